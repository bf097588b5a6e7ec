import { createConnection, type Socket } from "node:net";
import { tmpdir } from "node:os";
import type { Subprocess } from "bun";

const program = Bun.fileURLToPath(import.meta.resolve("../../bin/solid-jobs.ts"));

export interface GatewayProcess {
  readonly process: Subprocess<"pipe", "pipe", "pipe">;
  /** The lines of its log so far, parsed. */
  readonly log: Record<string, unknown>[];
  readonly socket: string;
  stop(): Promise<number>;
}

/** The real program with these arguments and nothing of this run's settings. */
export function spawnGateway(args: readonly string[], env: Record<string, string> = {}) {
  return Bun.spawn([process.execPath, program, "gateway", ...args], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? "", ...env },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** Starts the real program and resolves when it listens. */
export async function startGateway(
  socket: string,
  url: string,
  args: readonly string[] = [],
): Promise<GatewayProcess> {
  const process = spawnGateway(["--socket", socket, "--redis-url", url, ...args]);
  const log: Record<string, unknown>[] = [];
  const listening = Promise.withResolvers<void>();
  void readLines(process.stdout, (line) => {
    log.push(JSON.parse(line));
    if (log.at(-1)?.["message"] === "gateway listening") listening.resolve();
  });
  const early = process.exited.then(async (status) => {
    throw new Error(`the gateway ended with ${status}: ${await new Response(process.stderr).text()}`);
  });
  early.catch(() => {});
  await Promise.race([listening.promise, early]);
  const stop = () => {
    process.kill("SIGTERM");
    return process.exited;
  };
  return { process, log, socket, stop };
}

async function readLines(stream: ReadableStream<Uint8Array>, take: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    lines.forEach(take);
  }
}

export type Answer = { status: string; data?: unknown; error?: { class: string; message: string } };

/** A client that may send without waiting; answers come in the order of the requests. */
export class LineClient {
  readonly socket: Socket;
  readonly #waiting: ((line: string | undefined) => void)[] = [];
  readonly #lines: string[] = [];
  #isClosed = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    let rest = "";
    socket.setEncoding("utf8");
    socket.on("data", (chunk) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop()!;
      for (const line of lines) this.#arrived(line);
    });
    socket.on("end", () => this.#closed());
    socket.on("error", () => this.#closed());
    socket.on("close", () => this.#closed());
  }

  static connect(path: string): Promise<LineClient> {
    return new Promise((resolve, reject) => {
      const socket = createConnection({ path, allowHalfOpen: true });
      socket.once("connect", () => resolve(new LineClient(socket)));
      socket.once("error", reject);
    });
  }

  write(bytes: string | Uint8Array): void {
    this.socket.write(bytes);
  }

  /** The next line, or undefined when the connection was closed. */
  line(): Promise<string | undefined> {
    const line = this.#lines.shift();
    if (line !== undefined || this.#isClosed) return Promise.resolve(line);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async answer(): Promise<Answer> {
    const line = await this.line();
    if (line === undefined) throw new Error("the gateway closed the connection");
    return JSON.parse(line);
  }

  ask(request: unknown): Promise<Answer> {
    this.write(`${JSON.stringify(request)}\n`);
    return this.answer();
  }

  command(command: string, ...args: unknown[]): Promise<Answer> {
    return this.ask({ command, args });
  }

  close(): void {
    this.socket.destroy();
  }

  #arrived(line: string): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#lines.push(line);
    else waiting(line);
  }

  #closed(): void {
    this.#isClosed = true;
    for (const waiting of this.#waiting.splice(0)) waiting(undefined);
  }
}
