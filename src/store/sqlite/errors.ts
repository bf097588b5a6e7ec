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
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) {
    return new StoreUnavailable(`${path} is held by others for too long: ${message}`, {
      ...options,
      isSent: false,
    });
  }
  if (code === "SQLITE_FULL" || /disk is full|ENOSPC/i.test(message)) {
    return new StoreFull(`${path}: the disk is full; free some space, nothing is lost (${message})`, options);
  }
  if (code === "SQLITE_CORRUPT" || code === "SQLITE_NOTADB") {
    return new StoreUnsuitable(
      "CORRUPT",
      `${path} is not a sound database of solid-jobs (${message}); move it away, or restore it from a backup`,
      options,
    );
  }
  if (code.startsWith("SQLITE_READONLY") || code === "SQLITE_CANTOPEN" || code === "SQLITE_PERM") {
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

export function notWritable(path: string, reason: string): string {
  return `${path} cannot be written (${reason}); give this user write permission to the file and to its folder, or set another path: sqlite:/path/jobs.sqlite`;
}
