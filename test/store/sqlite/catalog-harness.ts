import { Database } from "bun:sqlite";
import { isUtf8 } from "node:buffer";
import { join } from "node:path";
import { readEntry } from "../../../src/store/entry-reading.ts";
import { ownProof } from "../../../src/store/liveness.ts";
import { SqliteCatalog } from "../../../src/store/sqlite/catalog.ts";
import { jobState, placeBits, slotBits } from "../../../src/store/sqlite/schema.ts";
import { nextSeq } from "../../../src/store/sqlite/statements.ts";
import { SqliteTransfer } from "../../../src/store/sqlite/transfer.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import type { CatalogHarness } from "../catalog/harness.ts";

/** A harness on a file of its own. */
export async function sqliteCatalogHarness(): Promise<CatalogHarness & { readonly path: string }> {
  const folder = temporaryFolder();
  const path = join(folder.path, "jobs.sqlite");
  const catalog = new SqliteCatalog({ path, synchronous: "normal" });
  const transfer = new SqliteTransfer({ path, synchronous: "normal" });
  await catalog.counters(); // makes the file
  const db = new Database(path);
  db.run("PRAGMA busy_timeout = 5000");
  const channelId = (name: string) =>
    db
      .query<{ id: number }, [string]>(
        "INSERT INTO channels (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET name = name RETURNING id",
      )
      .get(name)!.id;
  const insert = db.query("INSERT INTO jobs (channel, state, at, id, payload) VALUES (?, ?, ?, ?, ?)");
  const partsOf = (payload: string | Uint8Array) => {
    const bytes = Buffer.from(payload as string);
    const { id = "" } = readEntry(bytes.toString(), { isWhole: true, bytes: bytes.length });
    return { id, stored: isUtf8(bytes) ? bytes.toString() : bytes };
  };
  const add = (channel: string, state: number, at: number, payload: string | Uint8Array): void => {
    const { id, stored } = partsOf(payload);
    insert.run(channelId(channel), state, at, id, stored);
  };
  const bytesOf = (rows: unknown[]) =>
    (rows as { payload: string | Uint8Array }[]).map(({ payload }) =>
      typeof payload === "string" ? Buffer.from(payload) : payload,
    );
  const now = () => Date.now() / 1000;
  const harness: CatalogHarness & { readonly path: string } = {
    catalog,
    transfer,
    path,
    async journals() {
      const rows = db
        .query("SELECT name FROM sqlite_schema WHERE name LIKE 'transfer%' AND type = 'table'")
        .all();
      return (rows as { name: string }[]).map(({ name }) => name);
    },
    async push(channel, ...payloads) {
      channelId(channel);
      db.transaction(() => {
        for (const payload of payloads) {
          const { id, stored } = partsOf(payload);
          db.query(`INSERT INTO ready (seq, id, payload) SELECT ${nextSeq}, ?2, ?3`).run(
            ...[channelId(channel), id, stored],
          );
        }
      })();
    },
    async channel(channel) {
      const sql = `SELECT payload FROM ready_jobs WHERE seq >> ${placeBits} = ? ORDER BY seq`;
      return bytesOf(db.query(sql).all(channelId(channel)));
    },
    async put(set, ...entries) {
      db.transaction(() => {
        for (const [at, payload] of entries) {
          const text = typeof payload === "string" ? payload : "";
          const { channel = "default" } = readEntry(text, { isWhole: true, bytes: text.length });
          add(channel, jobState[set], at, payload);
        }
      })();
    },
    set: async (set) =>
      bytesOf(db.query("SELECT payload FROM jobs WHERE state = ? ORDER BY at, seq").all(jobState[set])),
    async take(channel, count) {
      db.query(
        `DELETE FROM ready WHERE seq IN (
           SELECT seq FROM ready WHERE seq >> ${placeBits} = ? ORDER BY seq LIMIT ?)`,
      ).run(channelId(channel), count);
    },
    async takeEarliest(set, count) {
      db.query(
        "DELETE FROM jobs WHERE seq IN (SELECT seq FROM jobs WHERE state = ? ORDER BY at, seq LIMIT ?)",
      ).run(jobState[set], count);
    },
    async count(done) {
      for (const [name, value] of Object.entries(done)) {
        db.query("UPDATE counters SET value = ? WHERE name = ?").run(value, name);
      }
    },
    async node({ identity, info = "", beatSecondsAgo = 0, busy = 0, isQuiet = false, concurrency = 1 }) {
      const beat = now() - beatSecondsAgo;
      db.query(
        "INSERT INTO nodes (identity, info, beat, beating_since, busy, quiet, concurrency) VALUES (?, ?, ?, ?, ?, ?, ?)",
      ).run(identity, info, beat, beat, busy, isQuiet ? 1 : 0, concurrency);
    },
    liveNode(identity) {
      const { bootId, pidNamespace, pid, pidStarted } = ownProof();
      const proof = { pid, boot_id: bootId, pid_ns: pidNamespace, pid_started: pidStarted };
      return harness.node({ identity, info: JSON.stringify({ hostname: "host", ...proof }) });
    },
    async claim(node, slot, { id, payload }) {
      addClaim(executorId(node), slot, { id, payload: partsOf(payload).stored });
    },
    emptyClaim: async (node, slot, id) => addClaim(executorId(node), slot, { id, payload: null }),
    async unclaimed(payload) {
      const { id, stored } = partsOf(payload);
      addClaim(1_000_000, 0, { id, payload: stored }); // no executor has that number
    },
    async running(node, executor, slot, json) {
      db.query("INSERT INTO running VALUES (?, ?, ?, ?)").run(node, executor, slot, json);
    },
    async signals(node) {
      const rows = db.query("SELECT signal FROM signals WHERE node = ? ORDER BY seq").all(node);
      return (rows as { signal: string }[]).map(({ signal }) => signal);
    },
    async ids(ids) {
      db.run("CREATE TABLE mine (id TEXT PRIMARY KEY)");
      db.transaction(() => {
        for (const id of ids) db.query("INSERT INTO mine VALUES (?)").run(id);
      })();
      return "mine";
    },
    async close() {
      await catalog.close();
      await transfer.close();
      db.close();
      folder[Symbol.dispose]();
    },
  };
  const executorId = (node: string): number => {
    db.query("INSERT OR IGNORE INTO executors (node, executor) VALUES (?, 'w')").run(node);
    const sql = "SELECT id FROM executors WHERE node = ? AND executor = 'w'";
    return db.query<{ id: number }, [string]>(sql).get(node)!.id;
  };
  const addClaim = (
    executor: number,
    slot: number,
    { id, payload }: { id: string; payload: string | Uint8Array | null },
  ): void => {
    db.query(
      `INSERT INTO claims (key, token, claimed_at, attempt, seq, id, payload)
       VALUES ((? << ${slotBits}) + 1 + ?, ?, 3.5, 2, ? << ${placeBits}, ?, ?)`,
    ).run(executor, slot, `t-${id}`, channelId("default"), id, payload);
  };
  return harness;
}
