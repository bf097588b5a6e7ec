import type { Logger } from "../instrumentation/logger.ts";
import type { Store } from "../store/store.ts";

/** A store that is opened at its first use. When that fails, the next use tries again. */
export class LazyStore {
  private readonly store: Store;
  private readonly logger: Logger;
  private opening: Promise<Store> | undefined;
  private isOpen = false;

  constructor(store: Store, logger: Logger) {
    this.store = store;
    this.logger = logger;
  }

  /** @throws what `Store.open` throws */
  opened(): Store | Promise<Store> {
    if (this.isOpen) return this.store;
    this.opening ??= this.open();
    return this.opening;
  }

  async close(): Promise<void> {
    await this.store.close();
  }

  private async open(): Promise<Store> {
    try {
      const { warnings } = await this.store.open();
      for (const warning of warnings) this.logger.warn(warning, { store: this.store.address });
      this.isOpen = true;
      return this.store;
    } finally {
      this.opening = undefined;
    }
  }
}
