import { join } from "node:path";
import type { Subprocess } from "bun";
import { awaited } from "./awaited.ts";

const program = join(import.meta.dir, "..", "..", "bin", "solid-jobs.ts");

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

export interface NodeProcessOptions {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Instead of the command line's program. */
  readonly program?: string;
  /** An executable, instead of Bun with a program. */
  readonly executable?: string;
}

/** A node in a process of its own, through the command line; its log lines are kept as they come. */
export class NodeProcess {
  readonly log: LogLine[] = [];
  /** Lines that are no JSON, standard error included. */
  readonly stray: string[] = [];
  readonly exited: Promise<number>;
  private readonly process: Subprocess<"ignore", "pipe", "pipe">;

  /** Does not wait for anything. */
  constructor({ args, cwd, env, program: file = program, executable }: NodeProcessOptions) {
    const command = executable === undefined ? [process.execPath, file] : [executable];
    this.process = Bun.spawn([...command, ...args], {
      cwd,
      env: { ...process.env, ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const streams = [this.keep(this.process.stdout), this.keep(this.process.stderr)];
    this.exited = this.process.exited.then(async (code) => {
      await Promise.all(streams);
      return this.process.signalCode === null ? code : -1;
    });
  }

  get pid(): number {
    return this.process.pid;
  }

  get hasExited(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  /** Of the latest start: a node that began again has another one. */
  get identity(): string {
    return String(this.log.findLast(({ message }) => message === "node started")?.["identity"]);
  }

  async started(): Promise<this> {
    await this.until("node started");
    return this;
  }

  /** The first line, of those that came and will come, that holds the text or fits. */
  until(wanted: string | ((line: LogLine) => boolean), from = 0): Promise<LogLine> {
    const isWanted = typeof wanted === "string" ? (line: LogLine) => line.message.includes(wanted) : wanted;
    return awaited(
      `the log line ${typeof wanted === "string" ? JSON.stringify(wanted) : wanted}`,
      () => {
        const found = this.log.slice(from).find(isWanted);
        if (found === undefined && this.hasExited)
          throw new Error(
            `the node ended (${this.process.exitCode}) before it logged ${wanted}\n${this.dump()}`,
          );
        return found;
      },
      { dump: () => this.dump() },
    );
  }

  count(text: string): number {
    return this.log.filter(({ message }) => message.includes(text)).length;
  }

  signal(signal: NodeJS.Signals): void {
    this.process.kill(signal);
  }

  /** SIGKILL, and its end. */
  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.exited;
  }

  /** SIGTERM; resolves to the exit status. */
  stop(): Promise<number> {
    this.signal("SIGTERM");
    return this.exited;
  }

  dump(): string {
    const lines = this.log.slice(-60).map((line) => JSON.stringify(line));
    return [...lines, ...this.stray.slice(-20)].join("\n");
  }

  private async keep(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of stream) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.take(line);
    }
    if (rest !== "") this.take(rest);
  }

  private take(line: string): void {
    try {
      this.log.push(JSON.parse(line) as LogLine);
    } catch {
      this.stray.push(line);
    }
  }
}
