import type { Publication, PublishStore } from "../../src/store/store.ts";

/** A store's publishing side in memory, whose answers a test decides. */
export class MemoryPublishStore implements PublishStore {
  readonly batches: {
    readonly publications: readonly Publication[];
    readonly barrier: string | undefined;
  }[] = [];
  readonly released: string[] = [];
  /** Runs before a batch is kept; what it throws or awaits is what the publisher gets. */
  beforePublish: (publications: readonly Publication[]) => unknown = () => {};
  beforeRelease: () => unknown = () => {};

  async publish(publications: readonly Publication[], barrier?: string): Promise<void> {
    await this.beforePublish(publications);
    this.batches.push({ publications: [...publications], barrier });
  }

  async releaseBarrier(barrier: string): Promise<void> {
    await this.beforeRelease();
    this.released.push(barrier);
  }

  get publications(): Publication[] {
    return this.batches.flatMap(({ publications }) => publications);
  }

  get ids(): string[] {
    return this.publications.map(({ id }) => id);
  }

  /** The stored records, parsed. */
  get records(): Record<string, unknown>[] {
    return this.publications.map(({ payload }) => JSON.parse(payload));
  }
}
