import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { chmodSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { prepareFolder } from "../../../src/store/sqlite/file-system.ts";
import { schemaVersion } from "../../../src/store/sqlite/schema.ts";
import { SqliteStore } from "../../../src/store/sqlite/store.ts";
import type { Reservation } from "../../../src/store/store.ts";
import { testUnless } from "../../support/skip.ts";
import { noSmallDisk, smallDisk } from "../../support/small-disk.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";
import { aWorker, cycle, idsOf, job, jobs, settle } from "../conformance/harness.ts";

function storeAt(path: string): SqliteStore {
  return new SqliteStore({ path, synchronous: "normal", discardedLimit: 10_000, discardedRetention: 180 });
}

/** A file with a hundred ready jobs, closed. */
async function filledFile(path: string): Promise<void> {
  const store = storeAt(path);
  await store.publish(jobs(100, { args: `["${"x".repeat(2000)}"]` }));
  await store.close();
}

describe("a file that cannot be used", () => {
  test("that a newer version wrote is refused, with both versions named, and left as it is", async () => {
    using folder = temporaryFolder();
    const path = `${folder.path}/jobs.sqlite`;
    await filledFile(path);
    const database = new Database(path);
    database.run(`PRAGMA user_version = ${schemaVersion + 7}`);
    database.close();
    const before = readFileSync(path);
    const store = storeAt(path);
    await expect(store.open()).rejects.toMatchObject({
      code: "SCHEMA_NEWER",
      message: expect.stringContaining(`schema ${schemaVersion + 7}`),
    });
    await expect(store.publish([job()])).rejects.toMatchObject({ code: "SCHEMA_NEWER" });
    await store.close();
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("that belongs to another program is refused and left as it is", async () => {
    using folder = temporaryFolder();
    const path = `${folder.path}/app.sqlite`;
    const database = new Database(path);
    database.run("CREATE TABLE users (name TEXT)");
    database.close();
    const before = readFileSync(path);
    const store = storeAt(path);
    await expect(store.open()).rejects.toMatchObject({ code: "NOT_OURS" });
    await store.close();
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("that is no database is refused and left as it is", async () => {
    using folder = temporaryFolder();
    const path = folder.write("jobs.sqlite", "this is a letter, not a database\n".repeat(200));
    const before = readFileSync(path);
    const store = storeAt(path);
    await expect(store.open()).rejects.toMatchObject({
      code: "CORRUPT",
      message: expect.stringContaining("backup"),
    });
    await store.close();
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("that was cut off is refused when it is opened", async () => {
    using folder = temporaryFolder();
    const path = `${folder.path}/jobs.sqlite`;
    await filledFile(path);
    truncateSync(path, Math.floor(statSync(path).size / 8192) * 4096);
    const store = storeAt(path);
    await expect(store.open()).rejects.toMatchObject({ code: "CORRUPT" });
    await store.close();
  });

  test("whose pages were overwritten fails with a clear error where they are read, and no job runs that is none", async () => {
    using folder = temporaryFolder();
    const path = `${folder.path}/jobs.sqlite`;
    await filledFile(path);
    const bytes = readFileSync(path);
    bytes.fill(0xa5, 4096 * 3, bytes.length - 4096);
    writeFileSync(path, bytes);
    const store = storeAt(path);
    try {
      const run = async () => {
        const worker = await aWorker(store);
        await cycle(store, worker, { slots: 10 });
      };
      await expect(run()).rejects.toMatchObject({ code: "CORRUPT" });
    } finally {
      await store.close();
    }
  });

  test("on a network file system is refused by its kind", () => {
    using folder = temporaryFolder();
    for (const [type, name] of [
      [0x6969, "NFS"],
      [0xff534d42 | 0, "CIFS"],
      [0x01021997, "9P"],
    ] as const) {
      expect(() => prepareFolder(`${folder.path}/jobs.sqlite`, () => type)).toThrow(
        expect.objectContaining({ code: "NETWORK_FILE_SYSTEM", message: expect.stringContaining(name) }),
      );
    }
    expect(() => prepareFolder(`${folder.path}/jobs.sqlite`, () => 0xef53)).not.toThrow();
  });

  testUnless(noSmallDisk)("on a read-only disk is refused, with and without a file there", async () => {
    using disk = smallDisk(16);
    await filledFile(`${disk.path}/jobs.sqlite`);
    disk.makeReadOnly();
    for (const name of ["jobs.sqlite", "new.sqlite", "new/folder/jobs.sqlite"]) {
      const store = storeAt(`${disk.path}/${name}`);
      await expect(store.open()).rejects.toMatchObject({
        code: "NOT_WRITABLE",
        message: expect.stringContaining("write permission"),
      });
      await store.close();
    }
  });

  testUnless(process.getuid?.() === 0 ? undefined : "becomes another user, which needs root")(
    "in a folder of another user is refused",
    async () => {
      using folder = temporaryFolder();
      chmodSync(folder.path, 0o755);
      const folderOfRoot = folder.write("own/x");
      const path = `${folderOfRoot.slice(0, -2)}/jobs.sqlite`;
      process.seteuid?.(65534);
      try {
        const store = storeAt(path);
        await expect(store.open()).rejects.toMatchObject({ code: "NOT_WRITABLE" });
        await store.close();
      } finally {
        process.seteuid?.(0);
      }
    },
  );
});

describe("a full disk", () => {
  testUnless(noSmallDisk)(
    "fails publishing first, nothing is lost, and what runs can still be settled",
    async () => {
      using disk = smallDisk(16);
      const store = storeAt(`${disk.path}/jobs.sqlite`);
      try {
        const worker = await aWorker(store);
        const stored: string[] = [];
        const publishUntilFull = async () => {
          for (;;) {
            const batch = jobs(10, { args: `["${"x".repeat(20_000)}"]` });
            await store.publish(batch);
            stored.push(...batch.map(({ id }) => id));
          }
        };
        await expect(publishUntilFull()).rejects.toMatchObject({
          code: "STORE_FULL",
          message: expect.stringContaining("nothing is lost"),
        });
        expect(stored.length).toBeGreaterThan(50);
        const ended: string[] = [];
        let held: readonly Reservation[] = [];
        do {
          const settlements = held.map((each) => settle(each, { outcome: "ack" }));
          const reply = await cycle(store, worker, { slots: 10, settlements });
          expect(reply.refused).toEqual([]);
          held = reply.reserved;
          ended.push(...idsOf(reply));
        } while (held.length > 0);
        expect(ended).toEqual(stored);
      } finally {
        await store.close();
      }
    },
  );

  testUnless(noSmallDisk)(
    "to its last byte makes the store unavailable until there is space, then all goes on",
    async () => {
      using disk = smallDisk(16);
      const store = storeAt(`${disk.path}/jobs.sqlite`);
      try {
        const worker = await aWorker(store);
        const given = jobs(40, { args: `["${"x".repeat(20_000)}"]` });
        await store.publish(given);
        const { reserved } = await cycle(store, worker, { slots: 20 });
        const filler = `${disk.path}/filler`;
        expect(() => writeFileSync(filler, Buffer.alloc(32 * 1024 * 1024))).toThrow("ENOSPC");
        await expect(store.publish([job()])).rejects.toMatchObject({ code: "STORE_FULL" });
        // Larger than what the log has room for without growing.
        const payload = JSON.stringify({ id: "x", channel: "default", note: "y".repeat(400_000) });
        const settlements = reserved.map((each) =>
          settle(each, { outcome: "retry", delaySeconds: 60, payload }),
        );
        const settling = cycle(store, worker, { settlements });
        let isOver = false;
        settling.then(
          () => {
            isOver = true;
          },
          () => {},
        );
        await Bun.sleep(300); // it must not have ended: there is no space
        expect(isOver).toBe(false);
        rmSync(filler);
        expect((await settling).refused).toEqual([]);
        await store.publish([job({ id: "after" })]);
        const rest = await cycle(store, worker, { slots: 40 });
        expect(idsOf(rest)).toEqual([...given.slice(20).map(({ id }) => id), "after"]);
      } finally {
        await store.close();
      }
    },
  );
});

describe("a file that is taken away", () => {
  for (const what of ["deleted", "replaced"] as const) {
    test(`${what} while a node runs: the node learns that it is gone, and goes on in the file that is there`, async () => {
      using folder = temporaryFolder();
      const path = `${folder.path}/jobs.sqlite`;
      const store = storeAt(path);
      try {
        const worker = await aWorker(store);
        const identity = await store.serverIdentity();
        await store.publish([job({ channel: "first" }), job({ channel: "second" })]);
        for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
        if (what === "replaced") {
          const other = storeAt(path);
          await other.publish([job({ id: "there", channel: "second" })]);
          await other.close();
        }
        await until(async () => (await store.serverIdentity()) !== identity);
        expect(store.epoch).toBe(1);
        expect(await store.beat(worker.node, { busy: 0, isQuiet: false, isNewServer: true })).toMatchObject({
          isAlive: false,
        });
        expect(await cycle(store, worker, { slots: 1 })).toMatchObject({ isCurrent: false, reserved: [] });
        const next = await aWorker(store);
        await store.publish([job({ id: "new", channel: "second" })]);
        const channels = [{ channel: "second", quota: 9 }];
        const reply = await cycle(store, next, { slots: 3, channels });
        expect(idsOf(reply)).toEqual(what === "replaced" ? ["there", "new"] : ["new"]);
      } finally {
        await store.close();
      }
    });
  }
});
