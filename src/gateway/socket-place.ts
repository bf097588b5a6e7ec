import { type BigIntStats, lstatSync, mkdirSync, renameSync, statSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { ConfigurationError, toError } from "../foundation/errors.ts";
import type { Logger } from "../instrumentation/logger.ts";

/** What every system's address of a socket can hold. */
const maxPathBytes = 103;

/**
 * Makes an absolute path ready for a socket: its directory is there and nobody but this user can put
 * another socket in its place; a socket that nothing listens on any more is removed.
 *
 * @throws ConfigurationError that says what stands against it
 */
export async function prepareSocketPlace(path: string, logger: Logger): Promise<void> {
  refuseBadPath(path);
  const directory = dirname(path);
  const stats = madeDirectory(directory);
  refuseForeignDirectory(directory, stats);
  if ((stats.mode & 0o077n) !== 0n) {
    logger.warn("others may look into the socket's directory, though not use the socket; 0700 is tighter", {
      directory,
      mode: octal(stats.mode),
    });
  }
  const earlier = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (earlier === undefined) return;
  if (!earlier.isSocket()) {
    throw refusal(path, "there is a file that is no socket: choose another path, or remove it");
  }
  if (await isLive(path))
    throw refusal(path, "another program listens there: stop it, or choose another path");
  removeStale(path, earlier);
}

/** Runs `listen`, which makes the socket, so that only this user may use it from its first moment. */
export function withPrivateMode<T>(listen: () => T): T {
  const before = process.umask(0o177);
  try {
    return listen();
  } finally {
    process.umask(before);
  }
}

function refuseBadPath(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (path.includes("\0")) throw refusal(JSON.stringify(path), "a path has no NUL in it");
  if (bytes > maxPathBytes) {
    throw refusal(
      path,
      `it takes ${bytes} bytes, a socket's path at most ${maxPathBytes}: choose a shorter one`,
    );
  }
}

function madeDirectory(directory: string): BigIntStats {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return statSync(directory, { bigint: true });
  } catch (error) {
    throw refusal(directory, `the directory cannot be made or read (${toError(error).message})`, error);
  }
}

/** Whoever may write to the directory could put a socket of their own there and read what clients send. */
function refuseForeignDirectory(directory: string, { mode, uid }: BigIntStats): void {
  const own = BigInt(process.getuid?.() ?? 0);
  if (uid !== own && uid !== 0n) {
    throw refusal(directory, "the directory belongs to another user: choose one of your own");
  }
  const isSticky = (mode & 0o1000n) !== 0n;
  if ((mode & 0o022n) !== 0n && !isSticky) {
    throw refusal(
      directory,
      `others may write to the directory (its mode is ${octal(mode)}): make it 0700, or choose another one`,
    );
  }
}

async function isLive(path: string): Promise<boolean> {
  try {
    const socket = await Bun.connect({ unix: path, socket: { data() {} } });
    socket.end();
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ECONNREFUSED" || code === "ENOENT") return false;
    throw refusal(path, `there is a socket that cannot be tried (${code ?? toError(error).message})`, error);
  }
}

/**
 * Moved aside first: when two gateways start at once, the one that comes late may hold the socket that the
 * other has just made, and puts it back.
 */
function removeStale(path: string, stale: BigIntStats): void {
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
    const moved = lstatSync(aside, { bigint: true });
    if (moved.ino === stale.ino && moved.mtimeNs === stale.mtimeNs) return unlinkSync(aside);
    renameSync(aside, path);
  } catch (error) {
    throw refusal(path, `the socket left behind cannot be removed (${toError(error).message})`, error);
  }
  throw refusal(path, "another program began to listen there just now: stop it, or choose another path");
}

function octal(mode: bigint): string {
  return (mode & 0o7777n).toString(8).padStart(4, "0");
}

function refusal(path: string, problem: string, cause?: unknown): ConfigurationError {
  return new ConfigurationError(`flag --socket: ${path}: ${problem}`, { cause });
}
