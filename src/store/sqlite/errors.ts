import {
  SolidJobsError,
  StoreError,
  StoreFull,
  StoreUnavailable,
  StoreUnsuitable,
} from "../../foundation/errors.ts";

/** What a failed statement means to the runtime. A transaction that failed was rolled back: nothing was sent. */
export function translated(error: unknown, path: string): SolidJobsError {
  if (error instanceof SolidJobsError) return error;
  const { code = "", message = String(error) } = error as { code?: string; message?: string };
  const options = { cause: error };
  if (/^SQLITE_(?:BUSY|LOCKED|PROTOCOL)/.test(code)) {
    return new StoreUnavailable(`${path} is held by others for too long: ${message}`, {
      ...options,
      isSent: false,
    });
  }
  if (code === "SQLITE_FULL" || /disk is full|ENOSPC/i.test(message)) {
    return new StoreFull(`${path}: the disk is full; free some space, nothing is lost (${message})`, options);
  }
  if (/^SQLITE_(?:CORRUPT|NOTADB)/.test(code)) {
    return new StoreUnsuitable(
      "CORRUPT",
      `${path} is not a sound database of solid-jobs (${message}); nothing in it was changed: stop what uses it, move it away with its -wal and -shm files, or restore a backup`,
      options,
    );
  }
  if (code === "SQLITE_READONLY_DBMOVED") {
    return new StoreUnavailable(`${path} was replaced by another file`, { ...options, isSent: false });
  }
  if (/^SQLITE_(?:READONLY|CANTOPEN|PERM)/.test(code)) {
    return new StoreUnsuitable("NOT_WRITABLE", notWritable(path, message), options);
  }
  if (code.startsWith("SQLITE_IOERR")) {
    return new StoreUnavailable(`${path} cannot be read or written now: ${message}`, {
      ...options,
      isSent: false,
    });
  }
  return new StoreError(`${path}: ${message}`, options);
}

/** One reason for a file that cannot be used: its folder or the file may not be written. */
export function notWritable(path: string, reason: string): string {
  return `${path} cannot be written (${reason}); give this user write permission to the file and to its folder, or set another path: sqlite:/path/jobs.sqlite`;
}
