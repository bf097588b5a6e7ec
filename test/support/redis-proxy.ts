import { createServer, connect as dial, type Server, type Socket } from "node:net";

export type Command = readonly string[];
export type CommandTest = (command: Command) => boolean;

interface Trap {
  readonly isWanted: CommandTest;
  readonly sprung: PromiseWithResolvers<Command>;
}

interface Hold extends Trap {
  readonly release: Promise<void>;
  readonly executed: PromiseWithResolvers<void>;
}

/**
 * Stands between nodes and a Redis server and reads what is asked. It can lose the reply to a command that
 * the server executed, or hold a command back and let the server execute it long after its sender has gone.
 */
export class RedisProxy implements AsyncDisposable {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private traps: Trap[] = [];
  private holds: Hold[] = [];

  private readonly delayMs: number;

  private constructor(serverPort: number, delayMs: number) {
    this.delayMs = delayMs;
    this.server = createServer((client) => this.serve(client, serverPort));
  }

  /** @param delayMs by which each reply comes later, as from a server that is far away */
  static async start(serverPort: number, { delayMs = 0 } = {}): Promise<RedisProxy> {
    const proxy = new RedisProxy(serverPort, delayMs);
    await new Promise<void>((resolve) => proxy.server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === "string") throw new Error("the proxy does not listen");
    return `redis://127.0.0.1:${address.port}`;
  }

  /**
   * The next command that fits is executed; then its connection ends without the reply. Resolves to the
   * command when that has happened.
   */
  loseReply(isWanted: CommandTest): Promise<Command> {
    const trap: Trap = { isWanted, sprung: Promise.withResolvers() };
    this.traps.push(trap);
    return trap.sprung.promise;
  }

  /** The next command that fits is kept back until `release`, also when its sender has gone meanwhile. */
  holdBack(isWanted: CommandTest): { held: Promise<Command>; release: () => Promise<void> } {
    const released = Promise.withResolvers<void>();
    const executed = Promise.withResolvers<void>();
    const hold: Hold = { isWanted, sprung: Promise.withResolvers(), release: released.promise, executed };
    this.holds.push(hold);
    const release = () => {
      released.resolve();
      return executed.promise;
    };
    return { held: hold.sprung.promise, release };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private serve(client: Socket, serverPort: number): void {
    const upstream = dial(serverPort, "127.0.0.1");
    for (const socket of [client, upstream]) {
      this.sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => this.sockets.delete(socket));
    }
    let held: Hold | undefined;
    let losing: { trap: Trap; command: Command } | undefined;
    let work: Promise<void> = Promise.resolve();
    const reader = new CommandReader((command, bytes) => {
      work = work.then(async () => {
        held = taken(this.holds, command);
        if (held !== undefined) {
          held.sprung.resolve(command);
          await held.release;
        }
        const trap = taken(this.traps, command);
        if (trap !== undefined) losing = { trap, command };
        upstream.write(bytes);
      });
    });
    client.on("data", (data) => reader.read(data as Buffer));
    client.on("close", () => {
      if (held === undefined) upstream.destroy();
    });
    upstream.on("data", (data) => {
      if (losing !== undefined && (data as Buffer).toString().startsWith("-NOSCRIPT")) {
        this.traps.push(losing.trap); // it was not executed: its second form will be
        losing = undefined;
      }
      if (losing !== undefined) {
        client.destroy();
        upstream.destroy();
        losing.trap.sprung.resolve(losing.command);
        losing = undefined;
        return;
      }
      held?.executed.resolve();
      if (client.destroyed) upstream.destroy();
      else if (this.delayMs === 0) client.write(data as Buffer);
      else setTimeout(() => client.write(data as Buffer), this.delayMs);
    });
    upstream.on("close", () => client.destroy());
  }
}

function taken<T extends Trap>(traps: T[], command: Command): T | undefined {
  const index = traps.findIndex(({ isWanted }) => isWanted(command));
  return index === -1 ? undefined : traps.splice(index, 1)[0];
}

/** Cuts a client's stream into commands: arrays of bulk strings, as every client sends them. */
export class CommandReader {
  private rest: Buffer = Buffer.alloc(0);
  private readonly onCommand: (command: Command, bytes: Buffer) => void;

  constructor(onCommand: (command: Command, bytes: Buffer) => void) {
    this.onCommand = onCommand;
  }

  read(data: Buffer): void {
    this.rest = Buffer.concat([this.rest, data]);
    for (let found = this.next(); found !== undefined; found = this.next()) {
      this.onCommand(found.command, this.rest.subarray(0, found.length));
      this.rest = this.rest.subarray(found.length);
    }
  }

  private next(): { command: string[]; length: number } | undefined {
    const head = this.line(0);
    if (head === undefined) return undefined;
    const command: string[] = [];
    let at = head.end;
    for (let i = 0; i < Number(head.text.slice(1)); i++) {
      const size = this.line(at);
      if (size === undefined) return undefined;
      const end = size.end + Number(size.text.slice(1));
      if (this.rest.length < end + 2) return undefined;
      command.push(this.rest.toString("utf8", size.end, end));
      at = end + 2;
    }
    return { command, length: at };
  }

  private line(from: number): { text: string; end: number } | undefined {
    const end = this.rest.indexOf("\r\n", from);
    return end === -1 ? undefined : { text: this.rest.toString("utf8", from, end), end: end + 2 };
  }
}
