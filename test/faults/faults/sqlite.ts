import { Database } from "bun:sqlite";
import { join } from "node:path";
import { NodeProcess } from "../../support/node-process.ts";
import { noSmallDisk } from "../../support/small-disk.ts";
import type { Fault } from "../fault.ts";
import { diskFilled } from "../world/disk-filler.ts";
import { newerCopy } from "../world/newer-copy.ts";
import { isInTransaction } from "../world/write-lock.ts";

const sqliteOnly = ["sqlite"] as const;
const tries = 400;
/** An older version must see by then that it cannot use the file. */
const refusalMs = 10_000;

/** What happens to the file, and to processes inside it. */
export const sqliteFaults: readonly Fault[] = [
  {
    name: "kill-in-transaction",
    does: "kills a node in the middle of a transaction of its own",
    engines: sqliteOnly,
    takesMs: 2000,
    reasonAgainst: () => (process.platform === "linux" ? undefined : "looks for locks in /proc"),
    async strike(world) {
      const victim = await world.victim();
      for (let left = tries; left > 0 && !victim.process.hasExited; left--) {
        victim.process.signal("SIGSTOP");
        if (isInTransaction(victim.process.pid, world.file.path)) {
          const kill = () => world.fleet.kill(victim);
          return world.struck("kill-in-transaction", [victim.name], kill, { isFatal: true });
        }
        victim.process.signal("SIGCONT");
        await Bun.sleep(3);
        if (world.ledger.running(victim.name).length === 0) await world.victim((node) => node === victim);
      }
    },
  },
  {
    name: "writer-holds",
    does: "lets another process hold the write lock for up to three seconds",
    engines: sqliteOnly,
    alone: "file",
    takesMs: 2500,
    harmlessOn: sqliteOnly,
    async strike(world, random) {
      await world.victim();
      const program = join(import.meta.dir, "..", "..", "support", "write-and-hang.ts");
      const writer = new NodeProcess({
        program,
        args: [],
        cwd: world.folder.path,
        env: { FILE: world.file.path },
      });
      world.processes.push(writer);
      await world.struck("writer-holds", "all", async () => {
        await writer.until("inside");
        await Bun.sleep(random.int(200, 3000));
        await writer.kill();
      });
    },
  },
  {
    name: "reader-holds",
    does: "keeps an old view of the file open for up to three seconds, so that its log cannot be written back",
    engines: sqliteOnly,
    takesMs: 2500,
    harmlessOn: sqliteOnly,
    async strike(world, random) {
      await world.victim();
      const reader = new Database(world.file.path, { readonly: true });
      await world.struck("reader-holds", "all", async () => {
        reader.run("BEGIN");
        reader.query("SELECT count(*) FROM ready").get();
        await Bun.sleep(random.int(500, 3000));
        reader.run("COMMIT");
        reader.close();
      });
    },
  },
  {
    name: "disk-full",
    does: "fills the disk: publishing is refused with STORE_FULL, and what runs goes on when there is space again",
    engines: sqliteOnly,
    alone: "file",
    takesMs: 2500,
    harmlessOn: sqliteOnly,
    weight: 6,
    needs: { hasSmallDisk: true },
    reasonAgainst: () => noSmallDisk,
    async strike(world, random) {
      await world.victim();
      await world.struck("disk-full", "all", async () => {
        using _ = diskFilled(world.file.folder, random.pick([0, 0, 2_000_000]));
        await world.mustRefuse("STORE_FULL");
        await Bun.sleep(random.int(500, 2000));
      });
    },
  },
  {
    name: "other-version",
    does: "starts a node of a newer version, which brings the file up to date under the older ones; they go on, and cannot start again",
    engines: sqliteOnly,
    alone: "file",
    takesMs: 3000,
    weight: 3,
    once: "other-version",
    async strike(world) {
      const program = newerCopy();
      const from = Date.now();
      const victim = await world.victim();
      const newer = await world.fleet.restartAs(victim, { program });
      await world.victim((node) => node === newer);
      await world.victim((node) => node !== newer);
      const scope = world.fleet.living.filter((node) => node !== newer).map(({ name }) => name);
      world.strikes.push({ fault: "other-version", at: Date.now(), until: Date.now(), scope });
      world.file.refuseThisVersion();
      const older = world.fleet.startOlder();
      world.processes.push(older);
      const status = await Promise.race([older.exited, Bun.sleep(refusalMs)]);
      if (status !== 1 || !older.dump().includes("newer solid-jobs"))
        world.problems.push(`an older version was not refused:\n${older.dump()}`);
      for (const seat of world.fleet.seats) seat.setup = { ...seat.setup, program };
      world.endings.push({ from, until: Date.now() + refusalMs });
    },
  },
];
