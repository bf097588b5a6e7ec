import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { main, type RunCommand } from "../../src/cli/program.ts";
import { settingsFrom } from "../../src/config/resolve.ts";
import type { Settings } from "../../src/config/settings.ts";

/** What the run command would run with, from a real command line. */
async function settingsOf(args: readonly string[]): Promise<Settings | undefined> {
  let settings: Settings | undefined;
  const run: RunCommand = async (flags, configFile) => {
    settings = settingsFrom({ flags, configFile, env: {} });
    return 0;
  };
  expect(await main(args, run)).toBe(0);
  return settings;
}

describe("the flags", () => {
  test("reach the settings in their short and long forms", async () => {
    const helper = Bun.fileURLToPath(import.meta.resolve("../support/temporary-folder.ts"));
    const short = ["-r", helper, "-c", "3", "-s", "4", "-t", "1.5", "--channel", "critical,3"];
    const long = `--require ${helper} --concurrency 3 --slots=4 --timeout 1.5 --channel=critical,3`.split(
      " ",
    );
    const rest = ["--channel", "default", "--log-level", "warn", "--watch", "--url", "redis://host/1"];
    const settings = await settingsOf([...short, ...rest]);
    expect(settings).toMatchObject({
      require: [helper],
      concurrency: 3,
      slots: 4,
      timeout: 1.5,
      channels: [
        { name: "critical", weight: 3 },
        { name: "default", weight: 1 },
      ],
      logLevel: "warn",
      watch: true,
      url: "redis://host/1",
    });
    expect(await settingsOf([...long, ...rest])).toEqual(settings);
  });

  test("take several paths after one -r and several -r", async () => {
    const [a, b] = ["../support/temporary-folder.ts", "../support/redis-server.ts"].map((path) =>
      Bun.fileURLToPath(import.meta.resolve(path)),
    ) as [string, string];
    expect((await settingsOf(["-r", a, b, "-c", "1"]))?.require).toEqual([b, a]);
    expect((await settingsOf(["-r", a, "-r", b]))?.require).toEqual([b, a]);
  });

  test("bring channels of any valid names and weights through the command line unchanged", async () => {
    const name = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 30 })
      .filter((text) => !/\p{Cc}/u.test(text) && Buffer.byteLength(text) <= 255);
    const channel = fc.record({ name, weight: fc.integer({ min: 1, max: 1000 }) });
    const channels = fc.uniqueArray(channel, { selector: (each) => each.name, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(channels, async (expected) => {
        const args = expected.map((each) => `--channel=${each.name},${each.weight}`);
        expect((await settingsOf(args))?.channels).toEqual(expected);
      }),
    );
  });
});

describe("the exit status", () => {
  test("is the node's", async () => {
    expect(await main([], async () => 3)).toBe(3);
  });
});
