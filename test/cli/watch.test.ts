import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Restartable, topFolders, watchModules } from "../../src/cli/watch.ts";
import { createLogger } from "../../src/instrumentation/logger-output.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A node whose restarts can be awaited one by one, and fail or last as a test wants. */
function fakeNode(restart: (round: number) => Promise<void> | void = () => {}) {
  let rounds = 0;
  let waiting: { round: number; resolve: () => void }[] = [];
  const node: Restartable = {
    restart: async () => {
      rounds += 1;
      const round = rounds;
      for (const each of waiting) if (each.round <= round) each.resolve();
      waiting = waiting.filter((each) => each.round > round);
      await restart(round);
    },
  };
  const restarted = (round: number) =>
    rounds >= round ? Promise.resolve() : new Promise<void>((resolve) => waiting.push({ round, resolve }));
  return { node, restarted, rounds: () => rounds };
}

function recordingLogger() {
  const lines: { level: string; message: string; files?: string[]; error?: { message: string } }[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  return { logger: createLogger({ level: "debug", isTty: false, write }), lines };
}

const quick = { settleMs: 20 };

describe("watching modules", () => {
  test("restarts the node once for several changes at a time, in any folder below a module's", async () => {
    using folder = temporaryFolder();
    const module = folder.write("jobs.ts", "1");
    folder.write("lib/deep/helper.ts", "1");
    const { node, restarted, rounds } = fakeNode();
    const { logger, lines } = recordingLogger();
    const watcher = watchModules([module], node, logger, quick);
    folder.write("jobs.ts", "2");
    folder.write("lib/deep/helper.ts", "2");
    await restarted(1);
    expect(rounds()).toBe(1);
    expect(lines[0]).toMatchObject({ level: "info", message: "modules changed, restarting" });
    expect(lines[0]?.files?.sort()).toEqual([module, join(folder.path, "lib/deep/helper.ts")]);
    watcher.close();
  });

  test("sees modules in folders that come later, and goes on when a folder is removed", async () => {
    using folder = temporaryFolder();
    const module = folder.write("jobs.ts");
    const { node, restarted } = fakeNode();
    const watcher = watchModules([module], node, recordingLogger().logger, quick);
    folder.write("new/folder/more.ts", "1");
    await restarted(1);
    folder.write("new/folder/more.ts", "2");
    await restarted(2);
    rmSync(join(folder.path, "new"), { recursive: true });
    await restarted(3);
    folder.write("jobs.ts", "2");
    await restarted(4);
    watcher.close();
  });

  test("is not moved by packages, dotfiles and files that are no modules", async () => {
    using folder = temporaryFolder();
    const module = folder.write("jobs.ts");
    folder.write("node_modules/p/index.js", "1");
    folder.write(".cache/x.ts", "1");
    const { node, restarted } = fakeNode();
    const { logger, lines } = recordingLogger();
    const watcher = watchModules([module], node, logger, quick);
    folder.write("node_modules/p/index.js", "2");
    folder.write(".cache/x.ts", "2");
    folder.write(".hidden.ts", "2");
    folder.write("result.json", "{}");
    folder.write("jobs.ts", "2");
    await restarted(1);
    expect(lines[0]?.files).toEqual([module]);
    watcher.close();
  });

  test("reports a restart that fails and tries again at the next change", async () => {
    using folder = temporaryFolder();
    const module = folder.write("jobs.ts");
    const { node, restarted } = fakeNode((round) => {
      if (round === 1) throw new Error("jobs.ts does not load");
    });
    const { logger, lines } = recordingLogger();
    const watcher = watchModules([module], node, logger, quick);
    folder.write("jobs.ts", "broken");
    await restarted(1);
    await Promise.resolve();
    folder.write("jobs.ts", "mended");
    await restarted(2);
    expect(lines.find(({ level }) => level === "error")).toMatchObject({
      message: "the restart failed; waiting for the next change",
      error: { message: "jobs.ts does not load" },
    });
    watcher.close();
  });

  test("never restarts twice at a time: a change during a restart leads to one more", async () => {
    using folder = temporaryFolder();
    const module = folder.write("jobs.ts");
    const first = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    const { node, restarted, rounds } = fakeNode(async (round) => {
      running += 1;
      most = Math.max(most, running);
      if (round === 1) await first.promise;
      running -= 1;
    });
    const { logger } = recordingLogger();
    const watcher = watchModules([module], node, logger, quick);
    folder.write("jobs.ts", "2");
    await restarted(1);
    folder.write("jobs.ts", "3");
    // What must not happen can only be waited out.
    await Bun.sleep(5 * quick.settleMs);
    expect(rounds()).toBe(1);
    first.resolve();
    await restarted(2);
    expect(most).toBe(1);
    watcher.close();
  });

  test("starts from the topmost folders only", () => {
    expect(topFolders(["/a/x.ts", "/a/b/y.ts", "/ab/z.ts", "/a/w.ts"])).toEqual(["/a", "/ab"]);
    expect(topFolders(["/x.ts", "/a/y.ts"])).toEqual(["/"]);
  });
});
