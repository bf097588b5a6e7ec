import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { NodeProcess } from "../support/node-process.ts";
import { Site } from "../support/site.ts";
import { testUnless } from "../support/skip.ts";

const engine = "sqlite";
const root = join(import.meta.dir, "..", "..");

/** Why no process can be started that sees other pids than ours, or undefined. */
const noNamespace = ((): string | undefined => {
  if (process.platform !== "linux") return "needs Linux' pid namespaces";
  const { exitCode } = Bun.spawnSync(["unshare", "--pid", "--fork", "--mount-proc", "true"]);
  return exitCode === 0 ? undefined : "makes a pid namespace, which needs root";
})();

function judged(site: Site, node: NodeProcess): ReturnType<Site["store"]["recover"]> {
  return site.store.recover({ identity: node.identity, judge: "judge~bun:1:000000000000", isProven: false });
}

test("a node that was killed mid-job is recovered by its lock, by a judge that knows nothing of its process", async () => {
  await using site = await Site.open({ engine });
  const node = await site.node();
  const gate = `${site.folder.path}/gate`;
  const id = await site.publish("Hold", ["a", gate]);
  await site.noted("begun", "a");
  expect(await judged(site, node)).toEqual({ state: "alive", recovered: [] });
  await node.kill();
  expect(await judged(site, node)).toEqual({
    state: "done",
    recovered: [{ jobId: id, channel: "default", crashes: 1 }],
  });
  expect(await site.tracesOfNodes()).toEqual([]);
  site.folder.write("gate");
  await site.node();
  await site.noted("done", "a");
  await site.drained();
});

test("a node that sleeps is never judged dead, however long; it goes on with its job", async () => {
  await using site = await Site.open({ engine });
  const node = await site.node();
  const gate = `${site.folder.path}/gate`;
  await site.publish("Hold", ["a", gate]);
  await site.noted("begun", "a");
  node.signal("SIGSTOP");
  const other = await site.node();
  await site.publish("Quick", ["b"]);
  expect((await site.noted("done", "b")).pid).toBe(other.pid);
  expect((await judged(site, node)).state).toBe("alive");
  node.signal("SIGCONT");
  site.folder.write("gate");
  expect((await site.noted("done", "a")).pid).toBe(node.pid);
  await site.drained();
  expect(site.notes("begun")).toHaveLength(1);
  expect(other.count("recovered a dead node") + node.count("declared dead")).toBe(0);
});

testUnless(noNamespace)(
  "a node of another container that shares the file lives as long as it runs, and is recovered when it is killed",
  async () => {
    await using site = await Site.open({ engine });
    const gate = `${site.folder.path}/gate`;
    const bun = [process.execPath, join(root, "bin", "solid-jobs.ts")];
    const tasks = ["-r", join(root, "test", "support", "fault-jobs.ts"), "--url", site.url];
    const contained = new NodeProcess({
      executable: "unshare",
      args: ["--pid", "--fork", "--mount-proc", "--kill-child", ...bun, ...tasks],
      cwd: site.folder.path,
      env: site.environment,
    });
    site.nodes.push(contained);
    await contained.started();
    await site.publish("Hold", ["a", gate]);
    await site.noted("begun", "a");
    const outer = await site.node();
    expect((await judged(site, contained)).state).toBe("alive");
    await contained.kill();
    const again = await site.noted("begun", "a", 1);
    expect(again.pid).toBe(outer.pid);
    expect(await outer.until("recovered a dead node")).toMatchObject({ jobs: 1 });
    site.folder.write("gate");
    await site.drained();
    expect(await site.catalog.counters()).toMatchObject({ processed: 1, failed: 0 });
  },
);

test("a process that is killed inside its transaction leaves nothing of it, and nobody waits for it", async () => {
  await using site = await Site.open({ engine });
  await site.store.open();
  const writer = site.program(join(root, "test", "support", "write-and-hang.ts"), {
    FILE: site.url.slice("sqlite:".length),
  });
  await writer.until("inside");
  await writer.kill();
  const killedAt = performance.now();
  const id = await site.publish("Quick", ["a"]);
  expect(performance.now() - killedAt).toBeLessThan(2000);
  expect(await site.catalog.counters()).toMatchObject({ processed: 0, failed: 0, ready: 1 });
  const channels = await Array.fromAsync(site.catalog.channels());
  expect(channels.map(({ name }) => name)).toEqual(["default"]);
  const report = await site.catalog.integrityCheck({ expectedIds: [id] });
  expect(report.isSound).toBe(true);
});

test("a node whose file is deleted begins again in the new one, and runs what is published there", async () => {
  await using site = await Site.open({ engine });
  const node = await site.node({ args: ["-c", "2"] });
  const { identity } = node;
  await site.publish("Quick", ["a"]);
  await site.noted("done", "a");
  const path = site.url.slice("sqlite:".length);
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
  await site.publish("Quick", ["b"]);
  await site.noted("done", "b");
  const [stored] = await Array.fromAsync(site.catalog.nodes());
  expect(stored?.identity).not.toBe(identity);
  await site.drained();
  expect(await node.stop()).toBe(0);
  expect(await site.tracesOfNodes()).toEqual([]);
});

test("5,000 jobs over two processes of which one is killed and started again: every one ends once or twice, none is lost", async () => {
  await using site = await Site.open({ engine });
  const setup = { args: ["-c", "2", "-s", "5", "--log-level", "error"] };
  const [first, second] = [site.spawn(setup), site.spawn(setup)];
  const keys = Array.from({ length: 5000 }, (_, key) => [key]);
  const ids = await site.publishMany("Quick", keys);
  await site.until("a thousand jobs", async () => (await site.catalog.counters()).processed > 1000);
  await first.kill();
  site.spawn(setup);
  await site.drained();
  const done = site.notes("done").map(({ key }) => key);
  expect(new Set(done).size).toBe(5000);
  expect(done.length - 5000).toBeLessThanOrEqual(2 * (5 + 128)); // what the killed one held, each once more
  const report = await site.catalog.integrityCheck({ expectedIds: ids, ackedIds: ids });
  expect(report.isSound).toBe(true);
  expect(await site.catalog.counters()).toMatchObject({ processed: 5000, failed: 0 });
  expect(await second.stop()).toBe(0);
});
