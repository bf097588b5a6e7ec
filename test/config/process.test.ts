import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  adoptSettings,
  configure,
  processConfiguration,
  processSettings,
  resetConfiguration,
} from "../../src/config/process.ts";
import { settingsFrom } from "../../src/config/resolve.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

beforeEach(resetConfiguration);
afterEach(resetConfiguration);

describe("configure", () => {
  test("merges repeated calls key by key, the later one wins", () => {
    const [first, second] = [() => {}, () => {}];
    configure({ slots: 2, maxFailures: 3, startup: first, shutdown: first });
    configure({ slots: 4, startup: [first, second], quiet: undefined });
    expect(processConfiguration().given).toEqual({ slots: 4, maxFailures: 3 });
    expect(processConfiguration().hooks).toMatchObject({
      startup: [first, second],
      shutdown: [first],
      quiet: [],
      instrumenters: [],
    });
    expect(processSettings()).toMatchObject({ slots: 4, maxFailures: 3 });
  });

  test("lets a later URL replace an earlier one under its other name", () => {
    configure({ redisUrl: "redis://a" });
    configure({ url: "redis://b" });
    expect(processSettings().url).toBe("redis://b");
  });

  test("takes effect after settings were already read", () => {
    expect(processSettings().slots).toBe(1);
    configure({ slots: 7 });
    expect(processSettings().slots).toBe(7);
    expect(processSettings()).toBe(processSettings());
  });

  test("needs no store URL yet, whatever NODE_ENV says", () => {
    const { NODE_ENV: before = "test" } = process.env;
    process.env.NODE_ENV = "production";
    try {
      configure({ maxFailures: 1 });
      configure({ url: "redis://host" });
      expect(processSettings()).toMatchObject({ maxFailures: 1, url: "redis://host" });
    } finally {
      process.env.NODE_ENV = before;
    }
  });

  test.each([
    [{ slost: 1 }, 'configure: unknown key "slost" (did you mean "slots"?)'],
    [{ errorHandler: () => {} }, 'configure: unknown key "errorHandler" (did you mean "errorHandlers"?)'],
    [{ slots: 0 }, "setting slots: expected a whole number from 1 to 1000, got 0"],
    [{ startup: "now" }, 'startup: expected a function or a list of them, got "now"'],
    [{ instrumenters: [{}] }, "instrumenters: expected a class or a list of them, got an object"],
  ])("refuses %p and changes nothing", (configuration, problem) => {
    configure({ slots: 2 });
    const before = processConfiguration();
    expect(() => configure({ maxFailures: 9, ...configuration } as object)).toThrow(problem);
    expect(processConfiguration()).toBe(before);
  });

  test.each([[null], [undefined], [5], ["slots=2"], [[]]])(
    "refuses %p, which is no object of settings",
    (configuration) => {
      const before = processConfiguration();
      expect(() => configure(configuration as object)).toThrow(
        "configure: expected an object of settings, got",
      );
      expect(processConfiguration()).toBe(before);
    },
  );

  test("is shared by a second copy of the module", async () => {
    using folder = temporaryFolder();
    const original = Bun.fileURLToPath(import.meta.resolve("../../src/config/process.ts"));
    const build = await Bun.build({ entrypoints: [original], target: "bun", outdir: folder.path });
    const other: typeof import("../../src/config/process.ts") = await import(build.outputs[0]!.path);
    expect(other.configure).not.toBe(configure);
    configure({ slots: 5 });
    expect(other.processSettings().slots).toBe(5);
  });
});

describe("a node's settings in its workers", () => {
  test("decide the store and all that runs jobs; how jobs are published is the modules' own", () => {
    adoptSettings(settingsFrom({ env: {}, given: { url: "redis://node", slots: 3, payloadLimit: 2048 } }));
    configure({ url: "redis://elsewhere", slots: 9, maxFailures: 1 });
    expect(processSettings()).toMatchObject({
      url: "redis://node",
      slots: 3,
      payloadLimit: 2048,
      maxFailures: 1,
    });
  });
});
