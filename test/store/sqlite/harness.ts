import { Database } from "bun:sqlite";
import { headOf } from "../../../src/store/sqlite/head.ts";
import { jobState, placeBits, slotBits } from "../../../src/store/sqlite/schema.ts";
import { nextSeq } from "../../../src/store/sqlite/statements.ts";
import { SqliteStore, type SqliteStoreOptions } from "../../../src/store/sqlite/store.ts";
import type { Executor } from "../../../src/store/store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import type { DuePayload, StoreHarness } from "../conformance/harness.ts";

export interface SqliteHarness extends StoreHarness {
  readonly store: SqliteStore;
  readonly path: string;
  /** A connection of the test's own to the same file. */
  readonly database: Database;
  /** A further store on the file, not opened. */
  storeWith(options?: Partial<SqliteStoreOptions>): SqliteStore;
}

const setStates = {
  planned: jobState.planned,
  retries: jobState.retrying,
  discarded: jobState.discarded,
};

/** A harness with a file of its own in a temporary folder. */
export async function sqliteHarness(options: Partial<SqliteStoreOptions> = {}): Promise<SqliteHarness> {
  const folder = temporaryFolder();
  const path = `${folder.path}/jobs.sqlite`;
  const stores: SqliteStore[] = [];
  const storeWith = (more: Partial<SqliteStoreOptions> = {}) => {
    const store = new SqliteStore({
      path,
      synchronous: "normal",
      discardedLimit: 10_000,
      discardedRetention: 180,
      ...options,
      ...more,
    });
    stores.push(store);
    return store;
  };
  const another = async () => {
    const store = storeWith();
    await store.open();
    return store;
  };
  const store = await another();
  const database = new Database(path);
  database.run("PRAGMA busy_timeout = 5000");
  const run = (sql: string, ...values: (string | number | null | Uint8Array)[]) =>
    database.query(sql).run(...values);
  const all = <T>(sql: string, ...values: (string | number)[]) =>
    database.query<T, (string | number)[]>(sql).all(...values);
  const channelId = (name: string): number => {
    run("INSERT OR IGNORE INTO channels (name) VALUES (?)", name);
    return all<{ id: number }>("SELECT id FROM channels WHERE name = ?", name)[0]?.id ?? 0;
  };
  const idOf = (payload: string | Uint8Array) =>
    headOf(typeof payload === "string" ? payload : Buffer.from(payload).toString("latin1")).id;
  const insert = (channel: string, state: number, at: number, payload: string | Uint8Array) =>
    void run(
      "INSERT INTO jobs (channel, state, at, id, payload) VALUES (?, ?, ?, ?, ?)",
      ...[channelId(channel), state, at, idOf(payload), payload],
    );
  const executorId = (node: string, executor: string): number => {
    run("INSERT OR IGNORE INTO executors (node, executor) VALUES (?, ?)", node, executor);
    const sql = "SELECT id FROM executors WHERE node = ? AND executor = ?";
    return all<{ id: number }>(sql, node, executor)[0]?.id ?? 0;
  };
  const listed = (state: number): DuePayload[] =>
    all<{ payload: string | Uint8Array; at: number }>(
      "SELECT payload, at FROM jobs WHERE state = ? ORDER BY at, seq",
      state,
    ).map(({ payload, at }) => ({ payload: textOf(payload), atMs: Math.round(at * 1e6) / 1e3 }));
  const claimAt = ({ node, executor }: Executor, slot: number) =>
    executorId(node, executor) * 2 ** slotBits + 1 + slot;
  return {
    store,
    path,
    database,
    storeWith,
    another,
    push: async (channel, payload) =>
      void run(
        `INSERT INTO ready (seq, id, payload) SELECT ${nextSeq}, ?2, ?3`,
        ...[channelId(channel), idOf(payload), payload],
      ),
    channel: async (channel) =>
      all<{ payload: string | Uint8Array }>(
        `SELECT payload FROM ready_jobs
         WHERE seq >> ${placeBits} = (SELECT id FROM channels WHERE name = ?) ORDER BY seq`,
        channel,
      ).map(({ payload }) => textOf(payload)),
    knownChannels: async () => all<{ name: string }>("SELECT name FROM channels").map(({ name }) => name),
    pause: async (channel) => void run("UPDATE channels SET paused = 1 WHERE id = ?", channelId(channel)),
    resume: async (channel) => void run("UPDATE channels SET paused = 0 WHERE id = ?", channelId(channel)),
    planned: async () => listed(jobState.planned),
    retries: async () => listed(jobState.retrying),
    discarded: async () => listed(jobState.discarded),
    put: async (where, payload, atMs) => {
      const text = typeof payload === "string" ? payload : Buffer.from(payload).toString("latin1");
      insert(headOf(text).channel, setStates[where], atMs / 1000, payload);
    },
    async counters() {
      const sum = (name: string) =>
        all<{ n: number }>(
          `SELECT value + (SELECT coalesce(sum(${name}), 0) FROM claims) AS n FROM counters WHERE name = ?`,
          name,
        )[0]?.n ?? 0;
      return { processed: sum("processed"), failed: sum("failed") };
    },
    crashes: async (jobId) =>
      all<{ count: number }>("SELECT count FROM crashes WHERE id = ?", jobId)[0]?.count ?? 0,
    nowMs: async () => Date.now(),
    claims: async (node) =>
      all<{ id: string }>(
        `SELECT claims.id AS id FROM executors
         JOIN claims ON key > (executors.id << ${slotBits}) AND key < ((executors.id + 1) << ${slotBits})
         WHERE node = ?`,
        node,
      ).map(({ id }) => id),
    async plantClaims(node, given) {
      database.run("BEGIN IMMEDIATE");
      for (const [i, { id, channel, payload }] of given.entries()) {
        run(
          `INSERT INTO claims (key, token, claimed_at, attempt, seq, id, payload)
           VALUES ((? << ${slotBits}) + 1, ?, 5, 1, (? << ${placeBits}) + ?, ?, ?)`,
          ...[executorId(node, `w${i}`), `t${i}`, channelId(channel), i, id, payload],
        );
      }
      database.run("COMMIT");
    },
    losePayload: async (executor, slot) =>
      void run("UPDATE claims SET payload = NULL WHERE key = ?", claimAt(executor, slot)),
    loseRecord: () => Promise.reject(new Error("a claim and its job are one row")),
    async setBeat(node, { secondsAgo, steadySeconds }) {
      const now = Date.now() / 1000;
      if (secondsAgo !== undefined)
        run("UPDATE nodes SET beat = ? WHERE identity = ?", now - secondsAgo, node);
      if (steadySeconds !== undefined)
        run("UPDATE nodes SET beating_since = ? WHERE identity = ?", now - steadySeconds, node);
    },
    async spoilNode(node, what) {
      if (what === "beat") throw new Error("a node's row always has a beat");
      run("DELETE FROM nodes WHERE identity = ?", node);
    },
    isNodeStored: async (node) => all("SELECT identity FROM nodes WHERE identity = ?", node).length === 1,
    signal: async (node, signal) =>
      void run(
        "INSERT INTO signals (node, signal, expires_at) VALUES (?, ?, ?)",
        node,
        signal,
        Date.now() / 1000 + 60,
      ),
    async close() {
      await Promise.all(stores.map((each) => each.close()));
      database.close();
      folder[Symbol.dispose]();
    },
  };
}

function textOf(payload: string | Uint8Array): string {
  return typeof payload === "string" ? payload : Buffer.from(payload).toString("utf8");
}
