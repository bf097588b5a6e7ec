import type { Publication } from "../store/store.ts";
import type { Draft } from "./draft.ts";

/** The most that one call of the store is given. */
export const maxBatchJobs = 500;
export const maxBatchBytes = 1024 * 1024;

/** A job inside its interceptors: `stored` lets them go on, `onion` is their end. */
export interface Intercepted {
  readonly stored: { resolve(): void; reject(reason: unknown): void };
  readonly onion: Promise<unknown>;
}

/** Jobs that are stored together, under one barrier where there is one. */
export class Batch {
  readonly drafts: Draft[] = [];
  readonly publications: Publication[] = [];
  readonly barrier: string | undefined;
  private readonly intercepted: Intercepted[] = [];
  private bytes = 0;

  constructor(barrier: string | undefined) {
    this.barrier = barrier;
  }

  get ids(): string[] {
    return this.publications.map(({ id }) => id);
  }

  /** A first one always has room. */
  hasRoomFor(bytes: number): boolean {
    if (this.publications.length === 0) return true;
    return this.publications.length < maxBatchJobs && this.bytes + bytes <= maxBatchBytes;
  }

  add(draft: Draft, publication: Publication & { readonly bytes: number }, intercepted?: Intercepted): void {
    this.drafts.push(draft);
    this.publications.push(publication);
    this.bytes += publication.bytes;
    if (intercepted !== undefined) this.intercepted.push(intercepted);
  }

  /** Lets the interceptors end. @throws what one of them throws after the job was stored */
  async succeed(): Promise<void> {
    for (const { stored } of this.intercepted) stored.resolve();
    await Promise.all(this.intercepted.map(({ onion }) => onion));
  }

  /** Lets the interceptors see the error, and waits for them; what they make of it does not count. */
  async fail(error: unknown): Promise<void> {
    for (const { stored } of this.intercepted) stored.reject(error);
    await Promise.allSettled(this.intercepted.map(({ onion }) => onion));
  }
}
