import type { Subprocess } from "bun";

export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A program under test: what it has printed so far, on both streams, and ways to wait for more. */
export class Program {
  output = "";
  readonly exited: Promise<number>;
  private readonly process: Subprocess<"ignore", "pipe", "pipe">;
  private readonly watchers = new Set<() => void>();

  private constructor(command: readonly string[], { env = {}, cwd }: ProgramOptions) {
    this.process = Bun.spawn([...command], {
      env: { ...process.env, ...env },
      ...(cwd === undefined ? {} : { cwd }),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const streams = [this.read(this.process.stdout), this.read(this.process.stderr)];
    this.exited = Promise.all([this.process.exited, ...streams]).then(([status]) => status);
    running.add(this.process);
    void this.exited.then(() => {
      running.delete(this.process);
      this.notice();
    });
  }

  static start(command: readonly string[], options: ProgramOptions = {}): Program {
    return new Program(command, options);
  }

  /** Resolves when it has printed that. @throws Error with all it printed, when it ends before */
  async said(what: string | RegExp): Promise<RegExpMatchArray> {
    const pattern = typeof what === "string" ? RegExp(RegExp.escape(what)) : what;
    let hasEnded = false;
    void this.exited.then(() => {
      hasEnded = true;
    });
    for (;;) {
      const found = this.output.match(pattern);
      if (found !== null) return found;
      if (hasEnded) throw new Error(`the program ended without saying ${what}; it printed:\n${this.output}`);
      await new Promise<void>((resolve) => {
        this.watchers.add(resolve);
      });
    }
  }

  /** Sends the signal and resolves to the exit status. */
  end(signal: NodeJS.Signals): Promise<number> {
    this.process.kill(signal);
    return this.exited;
  }

  private async read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      this.output += decoder.decode(chunk, { stream: true });
      this.notice();
    }
  }

  private notice(): void {
    for (const watcher of this.watchers) watcher();
    this.watchers.clear();
  }
}

const running = new Set<Subprocess>();
process.on("exit", () => {
  for (const program of running) program.kill("SIGKILL");
});
