import { openSync, writeSync } from "node:fs";
import type { LedgerLine } from "./ledger-line.ts";

let file: number | undefined;

/** Appends a line to this process's ledger, in one write, so that the lines of threads do not mix and a kill leaves none in part. */
export function writeLine(line: LedgerLine): void {
  file ??= openSync(`${process.env["FAULTS_LEDGER"]}/${process.env["FAULTS_NODE"]}.jsonl`, "a");
  writeSync(file, `${JSON.stringify(line)}\n`);
}
