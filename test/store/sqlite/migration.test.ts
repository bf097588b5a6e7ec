import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate } from "../../../src/store/sqlite/schema.ts";
import { SqliteStore } from "../../../src/store/sqlite/store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { aWorker, cycle, job, settle } from "../conformance/harness.ts";

const formerStates = { ready: 2, planned: 3, claimed: 6 } as const;

/** A file as the first version of the schema left it, with what it held. */
function formerFile(
  path: string,
  rows: readonly { state: number; channel: number; at: number; payload: string }[],
) {
  using database = new Database(path);
  database.run("PRAGMA journal_mode = WAL");
  migrate(database, 1);
  database.run("INSERT INTO channels (name) VALUES ('default'), ('other')");
  const insert = database.query("INSERT INTO jobs (channel, state, at, id, payload) VALUES (?, ?, ?, ?, ?)");
  for (const { state, channel, at, payload } of rows) {
    insert.run(channel, state, at, (JSON.parse(payload) as { id: string }).id, payload);
  }
  database.run(
    "INSERT INTO claims (node, executor, slot, token, seq, id, claimed_at, attempt) VALUES ('n', 'w', 0, 't', 3, 'x', 1, 1)",
  );
}

test("a file of the former schema keeps its jobs in their order; what was claimed is put back", async () => {
  using folder = temporaryFolder();
  const path = `${folder.path}/jobs.sqlite`;
  const [second, first, claimed, other, planned] = [
    job(),
    job({ args: `["${"x".repeat(9000)}"]` }),
    job(),
    job({ channel: "other" }),
    job(),
  ].map(({ payload }) => payload) as [string, string, string, string, string];
  formerFile(path, [
    { state: formerStates.ready, channel: 1, at: 20, payload: second },
    { state: formerStates.ready, channel: 1, at: 10, payload: first },
    { state: formerStates.claimed, channel: 1, at: 5, payload: claimed },
    { state: formerStates.ready, channel: 2, at: 1, payload: other },
    { state: formerStates.planned, channel: 1, at: 1, payload: planned },
  ]);
  const store = new SqliteStore({
    ...{ path, synchronous: "normal", discardedLimit: 10_000, discardedRetention: 180 },
  });
  await store.open();
  const worker = await aWorker(store);
  const channels = ["default", "other"].map((channel) => ({ channel, quota: 10 }));
  const { reserved } = await cycle(store, worker, { slots: 10, channels });
  expect(reserved.map(({ raw }) => raw)).toEqual([claimed, first, second, other]);
  const settlements = reserved.map((claim) => settle(claim, { outcome: "ack" }));
  expect((await cycle(store, worker, { settlements })).refused).toEqual([]);
  expect((await store.promoteDue()).planned).toBe(1);
  await store.close();
});
