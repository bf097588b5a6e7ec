import { Database } from "bun:sqlite";
import { bun, defineQueue, type Logger, type Queue } from "plainjob";
import { pathOf } from "../javascript.ts";

export const jobType = "mark";

/** It logs several lines a job otherwise. */
export const quietLogger: Logger = { error: console.error, warn: console.warn, info() {}, debug() {} };

/** It sets WAL and `synchronous=NORMAL` itself. */
export function openQueue(url: string): Queue {
  const database = new Database(pathOf(url), { strict: true });
  // It sets this too, but after its first statement, which fails when another process is at the file.
  database.run("PRAGMA busy_timeout = 5000");
  return defineQueue({ connection: bun(database), logger: quietLogger });
}
