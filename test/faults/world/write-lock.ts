import { readFileSync, statSync } from "node:fs";

/** The byte of a `-shm` file that a write-ahead log's writer locks (SQLite, wal.c: WAL_WRITE_LOCK). */
const writeLockByte = 120;

/** Whether a process holds the write lock of a database, by what the system lists. Linux. */
export function isInTransaction(pid: number, database: string): boolean {
  const inode = statSync(`${database}-shm`, { throwIfNoEntry: false })?.ino;
  return readFileSync("/proc/locks", "utf8")
    .split("\n")
    .some((line) => {
      const [, , , kind, owner, place, from] = line.trim().split(/\s+/);
      const isOfFile = place?.split(":").at(-1) === String(inode);
      return kind === "WRITE" && Number(owner) === pid && isOfFile && Number(from) === writeLockByte;
    });
}
