import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RedisClient, type Subprocess } from "bun";

export interface RedisServerOptions {
  /** Keeps the data on disk, so that `restart` after `kill` finds it. */
  readonly appendOnly?: "always" | "everysec";
  /** Further lines of the command line, such as `["--maxmemory", "8mb"]`. */
  readonly args?: readonly string[];
}

/** A private `redis-server` on a Unix socket and a free port of its own, in a folder that goes with it. */
export class RedisServer {
  readonly folder: string;
  readonly socket: string;
  readonly port: number;
  private process: Subprocess | undefined;
  private readonly options: RedisServerOptions;

  private constructor(options: RedisServerOptions) {
    this.options = options;
    this.folder = mkdtempSync(join(tmpdir(), "solid-jobs-redis-"));
    this.socket = join(this.folder, "redis.sock");
    this.port = freePort();
  }

  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const server = new RedisServer(options);
    servers.add(server);
    await server.launch();
    return server;
  }

  /** The URL over TCP. */
  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  get socketUrl(): string {
    return `redis+unix://${this.socket}`;
  }

  get pid(): number {
    if (this.process === undefined) throw new Error("this server is not running");
    return this.process.pid;
  }

  /** A plain client, connected; the caller closes it. */
  async client(url: string = this.url): Promise<RedisClient> {
    const client = new RedisClient(url);
    await client.connect();
    return client;
  }

  /** Sends one command over a connection of its own. */
  async send(command: string, ...args: (string | number)[]): Promise<unknown> {
    const client = await this.client();
    try {
      return await client.send(command, args.map(String));
    } finally {
      client.close();
    }
  }

  /** Ends the process as a crash does. The folder stays. */
  async kill(): Promise<void> {
    const process = this.process;
    this.process = undefined;
    process?.kill("SIGKILL");
    await process?.exited;
  }

  /** Starts it again on the same address and folder. */
  async restart(): Promise<void> {
    await this.kill();
    await this.launch();
  }

  /** Stops answering without closing connections, until `resume`. */
  freeze(): void {
    process.kill(this.pid, "SIGSTOP");
  }

  resume(): void {
    process.kill(this.pid, "SIGCONT");
  }

  async stop(): Promise<void> {
    servers.delete(this);
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async launch(): Promise<void> {
    const persistence = this.options.appendOnly
      ? ["--appendonly", "yes", "--appendfsync", this.options.appendOnly]
      : ["--appendonly", "no"];
    const base = ["--port", String(this.port), "--bind", "127.0.0.1", "--unixsocket", this.socket];
    this.process = Bun.spawn(
      [
        "redis-server",
        ...base,
        "--dir",
        this.folder,
        "--save",
        "",
        ...persistence,
        ...(this.options.args ?? []),
      ],
      { stdout: "pipe", stderr: "inherit", stdin: "ignore" },
    );
    await ready(this.process);
  }
}

const servers = new Set<RedisServer>();
process.on("exit", () => {
  for (const server of servers) {
    try {
      process.kill(server.pid, "SIGKILL");
    } catch {
      // already gone
    }
    rmSync(server.folder, { recursive: true, force: true });
  }
});

async function ready(server: Subprocess): Promise<void> {
  const lines: string[] = [];
  const decoder = new TextDecoder();
  const reader = (server.stdout as ReadableStream<Uint8Array>).getReader();
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    lines.push(decoder.decode(chunk.value, { stream: true }));
    if (lines.join("").includes("Ready to accept connections")) {
      void drain(reader);
      return;
    }
  }
  throw new Error(`redis-server ended before it was ready:\n${lines.join("")}`);
}

async function drain(reader: { read(): Promise<{ done: boolean }> }): Promise<void> {
  while (!(await reader.read()).done);
}

function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}
