import { nowMs } from "../marks/clock.ts";
import type { Shape, WorkerCommand } from "../systems/system.ts";
import { cleanEnvironment, killGroup, noteGroup } from "./processes.ts";
import { ProcessTree } from "./tree.ts";

const readyTimeoutMs = 60_000;
const stopTimeoutMs = 20_000;
const keptOutput = 4096;

/** A fresh process with the workers of a system. */
export class WorkerProcess {
  /** Just before it was started. */
  readonly spawnedMs: number;
  readonly tree: ProcessTree;
  private readonly process: Bun.Subprocess<"ignore", "pipe", "pipe">;
  private readonly readyText: string;
  private readonly ready = Promise.withResolvers<void>();
  private readonly ended: Promise<unknown>;
  private output = "";

  constructor(given: { command: WorkerCommand; shape: Shape; folder: string; env: Record<string, string> }) {
    const { command, shape, folder, env } = given;
    this.readyText = command.readyText ?? "node started";
    // Who does not ask for readiness learns of an early end by the jobs that do not run.
    this.ready.promise.catch(() => {});
    const shapeEnv = { BENCH_WORKERS: String(shape.workers), BENCH_SLOTS: String(shape.slots) };
    this.spawnedMs = nowMs();
    this.process = Bun.spawn([...command.argv], {
      cwd: folder,
      env: { ...cleanEnvironment(), ...shapeEnv, ...env, ...command.env },
      ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe", detached: true },
    });
    noteGroup(this.process.pid);
    this.tree = new ProcessTree(this.process.pid);
    this.ended = Promise.all([this.listen(this.process.stdout), this.listen(this.process.stderr)]).then(() =>
      this.ready.reject(new Error(`it ended before it was ready; ${this.said}`)),
    );
  }

  /** Resolves when it takes jobs. @throws Error when it ends before, or is silent for a minute */
  async untilReady(): Promise<void> {
    const late = setTimeout(
      () => this.ready.reject(new Error(`it was not ready within 60 s; ${this.said}`)),
      readyTimeoutMs,
    );
    try {
      await this.ready.promise;
    } finally {
      clearTimeout(late);
    }
  }

  get pid(): number {
    return this.process.pid;
  }

  get hasEnded(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  /** The end of its output, for a message. */
  get said(): string {
    const text = this.output.trim();
    return text === "" ? "it said nothing" : `it said: ${text.slice(-600)}`;
  }

  /** Ends it in an orderly way, or after 20 s at once. @returns what is to be said of that, if anything */
  async stop(): Promise<string | undefined> {
    this.process.kill("SIGTERM");
    const late = setTimeout(() => killGroup(this.process.pid), stopTimeoutMs);
    const status = await this.process.exited;
    clearTimeout(late);
    killGroup(this.process.pid);
    await this.ended;
    return status === 0 ? undefined : `ended with status ${status} when asked to stop; ${this.said}`;
  }

  /** At once, if it still runs. */
  async kill(): Promise<void> {
    killGroup(this.process.pid);
    await this.process.exited;
  }

  private async listen(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      this.output = (this.output + decoder.decode(bytes, { stream: true })).slice(-keptOutput);
      if (this.output.includes(this.readyText)) this.ready.resolve();
    }
  }
}
