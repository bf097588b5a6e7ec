import { testUnless } from "../../support/skip.ts";
import type { Engine, StoreHarness } from "./harness.ts";

/** How the parts of the suite write their tests. */
export interface Suite {
  readonly engine: Engine;
  /** A test on a store with fresh data, which is closed after it. */
  it(name: string, body: (harness: StoreHarness) => Promise<void>): void;
}

export function suiteFor(engine: Engine): Suite {
  return {
    engine,
    it(name, body) {
      const skip = Object.entries(engine.skips ?? {}).find(([word]) => name.includes(word));
      testUnless(skip?.[1])(name, async () => {
        const harness = await engine.open();
        try {
          await body(harness);
        } finally {
          await harness.close();
        }
      });
    },
  };
}
