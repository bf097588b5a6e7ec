import { StoreFull } from "../../foundation/errors.ts";
import { freeBytes } from "./file-system.ts";

/** Left on the disk by publishing, so that what runs can still be settled. */
const reservedBytes = 4 * 1024 * 1024;
/** How long an answer of the system is used; by then others have not written what it leaves alone. */
const usedMs = 50;
/** The part of what is free that is written on one answer. */
const usedShare = 1 / 64;

/** What publishing may still write to a disk. */
export class DiskSpace {
  private readonly path: string;
  private askedAt = Number.NEGATIVE_INFINITY;
  /** What may be written before the system is asked again. */
  private left = 0;

  /** @param path of a file on it */
  constructor(path: string) {
    this.path = path;
  }

  /** @throws StoreFull when the disk has no room for so many bytes and what is settled meanwhile */
  refuseWhenFull(bytes: number): void {
    const wanted = 2 * bytes; // in the log, then in the file
    const now = performance.now();
    if (wanted > this.left || now - this.askedAt > usedMs) this.ask(reservedBytes + wanted, now);
    this.left -= wanted;
  }

  private ask(needed: number, now: number): void {
    const free = freeBytes(this.path);
    if (free < needed) {
      this.left = 0;
      throw new StoreFull(
        `${this.path}: the disk has ${free} bytes left, publishing needs ${needed}; free some space, nothing is lost`,
      );
    }
    this.askedAt = now;
    this.left = (free - reservedBytes) * usedShare;
  }
}
