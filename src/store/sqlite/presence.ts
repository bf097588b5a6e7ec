import { constants, Database } from "bun:sqlite";
import { realpathSync, rmSync } from "node:fs";

/**
 * Proof of life. Each node holds an exclusive lock on a small file beside the database for as long as its
 * process lives; the kernel frees it when the process ends, however it ends. So who gets the lock of a node
 * has proof that it is gone, also where the pid proves nothing: in another container that shares the file.
 * A process that is stopped, or a machine that sleeps, keeps its locks.
 */
export class Presence {
  private readonly path: string;
  private readonly held = new Map<string, Database>();

  /** @param path of the database */
  constructor(path: string) {
    this.path = path;
  }

  /** Before the node is stored, so that nobody ever sees it without its lock. */
  hold(identity: string): void {
    if (this.held.has(identity)) return;
    const lock = lockOn(
      this.lockFile(identity),
      constants.SQLITE_OPEN_READWRITE | constants.SQLITE_OPEN_CREATE,
    );
    if (lock !== "busy") this.held.set(identity, lock);
  }

  /** @returns `alive` while its process holds the lock, `gone` when nobody does, `unknown` without a lock file */
  stateOf(identity: string): "alive" | "gone" | "unknown" {
    if (this.held.has(identity)) return "alive";
    try {
      const lock = lockOn(this.lockFile(identity), constants.SQLITE_OPEN_READWRITE);
      if (lock === "busy") return "alive";
      lock.close();
      return "gone";
    } catch {
      return "unknown"; // no such file, or another user's
    }
  }

  /** Once the node is no longer stored. */
  release(identity: string): void {
    this.held.get(identity)?.close();
    this.held.delete(identity);
    rmSync(this.lockFile(identity), { force: true });
  }

  /** The locks end, the files stay: who finds one free recovers its node. */
  close(): void {
    for (const lock of this.held.values()) lock.close();
    this.held.clear();
  }

  private lockFile(identity: string): string {
    const name = new Bun.CryptoHasher("sha256").update(identity).digest("hex").slice(0, 16);
    return `${followed(this.path)}-node-${name}`;
  }
}

/** One database has one place for its locks, whatever links lead to it. */
function followed(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // not made yet
  }
}

/** @throws SQLiteError when the file cannot be opened */
function lockOn(file: string, flags: number): Database | "busy" {
  const lock = new Database(file, flags);
  try {
    lock.run("PRAGMA busy_timeout = 0");
    lock.run("PRAGMA journal_mode = MEMORY"); // no further file
    lock.run("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock.close();
    if ((error as { code?: string }).code?.startsWith("SQLITE_BUSY")) return "busy";
    throw error;
  }
}
