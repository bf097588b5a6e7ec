import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { StoreError, StoreUnavailable } from "../../../src/foundation/errors.ts";
import { ownProof } from "../../../src/store/liveness.ts";
import { SqliteCatalog } from "../../../src/store/sqlite/catalog.ts";
import { prepareCatalog } from "../../../src/store/sqlite/catalog-statements.ts";
import { ownEnvelope } from "../../support/stored.ts";
import { all, entriesOf } from "../catalog/harness.ts";
import { sqliteCatalogHarness } from "./catalog-harness.ts";

type Harness = Awaited<ReturnType<typeof sqliteCatalogHarness>>;

async function on(body: (harness: Harness, database: Database) => Promise<void>): Promise<void> {
  const harness = await sqliteCatalogHarness();
  const database = new Database(harness.path);
  try {
    await body(harness, database);
  } finally {
    database.close();
    await harness.close();
  }
}

describe("the ids of a user's own table", () => {
  test.each([
    ["with rowids", "CREATE TABLE done (id TEXT)"],
    ["with a name of its column that needs quotes", 'CREATE TABLE done ("the ""id" TEXT)'],
    ["without rowids", "CREATE TABLE done (id TEXT PRIMARY KEY) WITHOUT ROWID"],
  ])("are read from a table %s", (_name, sql) =>
    on(async ({ catalog }, database) => {
      database.run(sql);
      const ids = Array.from({ length: 2500 }, (_, i) => `id-${String(i).padStart(4, "0")}`);
      database.transaction(() => {
        for (const id of ids) database.query("INSERT INTO done VALUES (?)").run(id);
      })();
      expect(await all((cursor) => catalog.ids("DONE", cursor))).toEqual(ids);
    }),
  );

  test("are read from a view", () =>
    on(async ({ catalog }, database) => {
      database.run("CREATE TABLE results (id TEXT, value TEXT)");
      database.run("INSERT INTO results VALUES ('a', 'x'), ('b', 'y'), (NULL, 'z')");
      database.run("CREATE VIEW done AS SELECT id FROM results");
      expect(await all((cursor) => catalog.ids("done", cursor))).toEqual(["a", "b"]);
    }));

  test("must stand alone in it, as text", () =>
    on(async ({ catalog }, database) => {
      database.run("CREATE TABLE two (id TEXT, value TEXT)");
      database.run("CREATE TABLE bytes (id BLOB)");
      database.run("INSERT INTO bytes VALUES (x'ff')");
      const wide = await catalog.ids("two").catch((error) => error);
      expect(wide).toBeInstanceOf(StoreError);
      expect(wide.message).toContain("expected a table of one column");
      expect(wide.message).toContain("it has 2 columns: id, value");
      await expect(catalog.ids("bytes")).rejects.toThrow(/expected ids as text/);
      await expect(catalog.ids("jobs")).rejects.toThrow(/expected a table of one column/);
      expect(await catalog.ids('"; DROP TABLE jobs; --')).toEqual({ items: [], cursor: undefined });
    }));
});

test("a node lives until it is declared dead, its process is gone or the machine was started again", () =>
  on(async ({ catalog, node, liveNode }, database) => {
    const { bootId, pidNamespace, pid, pidStarted } = ownProof();
    const info = { pid, boot_id: bootId, pid_ns: pidNamespace, pid_started: pidStarted };
    const ended = Bun.spawnSync(["true"]).pid;
    await liveNode("live");
    await node({ identity: "asleep", info: JSON.stringify(info), beatSecondsAgo: 100_000 });
    await node({ identity: "gone", info: JSON.stringify({ ...info, pid: ended, pid_started: "1" }) });
    await node({ identity: "reused", info: JSON.stringify({ ...info, pid_started: "1" }) });
    await node({ identity: "earlier boot", info: JSON.stringify({ ...info, boot_id: "another" }) });
    await node({ identity: "declared", info: JSON.stringify(info) });
    database.run("UPDATE nodes SET dead = 1 WHERE identity = 'declared'");
    const views = await all((cursor) => catalog.nodes(cursor));
    const living = views.filter(({ isLive }) => isLive).map(({ identity }) => identity);
    expect(living.sort()).toEqual(["asleep", "live"]);
  }));

test("an entry that went and came back is not the one that was read", () =>
  on(async ({ catalog, put }, database) => {
    await put("retrying", [1, ownEnvelope("job")]);
    const entry = (await entriesOf(catalog, { state: "retrying" }))[0]!;
    database.run("UPDATE jobs SET at = 2");
    expect(await catalog.remove("retrying", entry.locator)).toBe(false);
    expect(await catalog.requeue("retrying", entry.locator)).toBe("gone");
  }));

test("no query of the catalog looks at every job, but those that count and survey", () =>
  on(async ({ path }) => {
    const database = new Database(path);
    const statements = prepareCatalog(database);
    const { planned } = statements.sets;
    const bounded = [
      statements.readyFromNewest,
      statements.readyFromOldest,
      statements.nextJob,
      statements.countReady,
      planned.after,
      planned.from,
      planned.count,
      statements.claims,
    ];
    for (const statement of bounded) {
      const plan = database.query(`EXPLAIN QUERY PLAN ${statement.toString()}`).all() as { detail: string }[];
      expect(plan.map(({ detail }) => detail).join("; ")).toMatch(
        /^SEARCH (jobs|ready|executors) USING [A-Z ]+/,
      );
      expect(plan.map(({ detail }) => detail).join("; ")).not.toContain("TEMP B-TREE");
    }
    database.close();
  }));

test("many processes read and change one file at the same time, and nothing is done twice", () =>
  on(async ({ path, put, catalog }) => {
    await put("discarded", ...Array.from({ length: 2000 }, (_, i) => [i, ownEnvelope(`job-${i}`)] as const));
    const module = JSON.stringify(import.meta.resolve("../../../src/store/sqlite/catalog.ts"));
    const program = `
      const { SqliteCatalog } = await import(${module});
      const catalog = new SqliteCatalog({ path: ${JSON.stringify(path)}, synchronous: "normal" });
      let requeued = 0;
      for (;;) {
        const step = await catalog.requeueStep("discarded", { skip: 0, most: 20 });
        requeued += step.requeued;
        if (step.remaining === 0) break;
      }
      await catalog.close();
      console.log(requeued);`;
    const runs = Array.from({ length: 3 }, () =>
      Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "inherit" }),
    );
    const counts = await Promise.all(runs.map(async (run) => Number(await run.stdout.text())));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2000);
    const entries = await entriesOf(catalog, { state: "ready", channel: "default" });
    expect(new Set(entries.map(({ id }) => id)).size).toBe(2000);
  }));

test("a closed catalog says so, and closing twice is fine", async () => {
  const catalog = new SqliteCatalog({ path: "/nowhere/jobs.sqlite", synchronous: "normal" });
  await catalog.close();
  await catalog.close();
  await expect(catalog.counters()).rejects.toThrow(StoreUnavailable);
});
