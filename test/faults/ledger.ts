import { closeSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import type { LedgerLine, MischiefLine, PublicationLine, RunLine } from "./jobs/ledger-line.ts";

/** One execution of a job, as the job itself wrote it down. */
export interface Run {
  readonly id: string;
  readonly key: string;
  readonly token: string;
  readonly attempt: number;
  readonly node: string;
  readonly thread: number;
  readonly beganAt: number;
  endedAt?: number;
  isDone?: boolean;
  /** When its process or thread was gone, where it did not end itself. */
  cutAt?: number;
}

/**
 * Reads what the processes of a campaign's run write down, a file each, and goes on where it stopped. Times
 * are put right for nodes whose clock is set wrong on purpose.
 */
export class Ledger {
  readonly runs: Run[] = [];
  readonly mischief: MischiefLine[] = [];
  readonly publications: PublicationLine[] = [];
  /** How far a node's clock goes ahead, in ms. */
  readonly clockErrors = new Map<string, number>();
  private readonly folder: string;
  private readonly open = new Map<string, Run>();
  private readonly files = new Map<string, { file: number; offset: number; rest: string }>();

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Runs that have begun and not ended, as far as it was read. */
  running(node?: string): Run[] {
    this.refresh();
    const open = [...this.open.values()];
    return node === undefined ? open : open.filter((run) => run.node === node);
  }

  /** Reads on. */
  refresh(): this {
    for (const name of readdirSync(this.folder)) if (name.endsWith(".jsonl")) this.readOn(name);
    return this;
  }

  close(): void {
    for (const { file } of this.files.values()) closeSync(file);
    this.files.clear();
  }

  private readOn(name: string): void {
    const known = this.files.get(name) ?? {
      file: openSync(join(this.folder, name), "r"),
      offset: 0,
      rest: "",
    };
    this.files.set(name, known);
    const size = fstatSync(known.file).size;
    if (size <= known.offset) return;
    const bytes = Buffer.alloc(size - known.offset);
    const read = readSync(known.file, bytes, 0, bytes.length, known.offset);
    known.offset += read;
    const lines = (known.rest + bytes.toString("utf8", 0, read)).split("\n");
    known.rest = lines.pop() ?? "";
    for (const line of lines) this.take(JSON.parse(line) as LedgerLine);
  }

  private take(line: LedgerLine): void {
    switch (line.what) {
      case "begin":
        return this.begin(line);
      case "end":
        return this.end(line);
      case "mischief":
        return void this.mischief.push({ ...line, at: this.trueTime(line) });
      default:
        this.publications.push(line);
    }
  }

  private begin(line: RunLine): void {
    const { id, key, token, attempt, node, thread } = line;
    const run: Run = { id, key, token, attempt, node, thread, beganAt: this.trueTime(line) };
    this.runs.push(run);
    this.open.set(placeOf(line), run);
  }

  private end(line: RunLine): void {
    const run = this.open.get(placeOf(line));
    if (run === undefined)
      throw new Error(`the ledger has an end without a beginning: ${JSON.stringify(line)}`);
    this.open.delete(placeOf(line));
    run.endedAt = this.trueTime(line);
    run.isDone = line.isDone === true;
  }

  private trueTime({ node, at }: { node: string; at: number }): number {
    return at - (this.clockErrors.get(node) ?? 0);
  }
}

/** A claim runs once in a thread; the thread is part of it so that a claim that ran twice is seen as two runs. */
function placeOf({ token, node, thread }: RunLine): string {
  return `${token} ${node} ${thread}`;
}
