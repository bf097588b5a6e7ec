import { createServer, connect as dial, type Server, type Socket } from "node:net";
import { type Command, CommandReader } from "../../support/redis-proxy.ts";
import { commandName } from "./command-name.ts";

/** What is done to the bytes of one direction while a fault lasts. */
type Mood = { readonly delayMs: number } | "held" | "swallowed" | undefined;

interface Trap {
  readonly isWanted: (name: string) => boolean;
  /** Whether the connection ends with the reply that is lost; else it stays and says nothing any more. */
  readonly isCut: boolean;
  readonly sprung: PromiseWithResolvers<LostReply>;
}

/** A reply that its asker never got. */
export interface LostReply {
  readonly command: string;
  /** False when the server had refused: the script was not known. */
  readonly wasExecuted: boolean;
}

/**
 * The network between a run's processes and their Redis: it can cut, delay, truncate, half-close and hold
 * connections, swallow what is sent, and lose the reply to a command that the server has executed.
 */
export class FaultProxy {
  /** Of new connections; those that exist stay where they are. */
  serverPort: number;
  /** How often each command was asked, by the names of `commandName`. */
  readonly asked = new Map<string, number>();
  private readonly server: Server;
  private readonly links = new Set<Link>();
  private traps: Trap[] = [];
  private replyMood: Mood;

  private constructor(serverPort: number) {
    this.serverPort = serverPort;
    this.server = createServer((client) => this.serve(client));
  }

  static async start(serverPort: number): Promise<FaultProxy> {
    const proxy = new FaultProxy(serverPort);
    await new Promise<void>((resolve) => proxy.server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    const address = this.server.address();
    if (address === null || typeof address === "string") throw new Error("the proxy does not listen");
    return address.port;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Ends all connections. */
  cut(): void {
    for (const link of this.links) link.end();
  }

  /** Replies come so much later, until `heal`. */
  delay(delayMs: number): void {
    this.replyMood = { delayMs };
  }

  /** Replies are kept back, until `heal` or the end of their connections. */
  hold(): void {
    this.replyMood = "held";
  }

  /** What is executed is never answered. The connections it happened to end with `heal`. */
  swallow(): void {
    this.replyMood = "swallowed";
  }

  /** Of the next reply on each connection only a part arrives, then the connection ends. */
  truncate(): void {
    for (const link of this.links) link.isTruncating = true;
  }

  /** Each client is told that no more comes, while its own side stays open. */
  halfClose(): void {
    for (const link of this.links) link.client.end();
  }

  heal(): void {
    const wasSwallowed = this.replyMood === "swallowed";
    this.replyMood = undefined;
    for (const link of this.links) {
      link.isTruncating = false;
      if (wasSwallowed && link.hasSwallowed) link.end();
      else link.flush();
    }
  }

  /** The reply to the next command that fits is lost, once it was executed. */
  loseReply(isWanted: (name: string) => boolean, { isCut }: { isCut: boolean }): Promise<LostReply> {
    const trap: Trap = { isWanted, isCut, sprung: Promise.withResolvers() };
    this.traps.push(trap);
    return trap.sprung.promise;
  }

  /** Traps that nothing went into yet. */
  disarm(): void {
    this.traps = [];
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private serve(client: Socket): void {
    const link = new Link(client, dial(this.serverPort, "127.0.0.1"), {
      mood: () => this.replyMood,
      trapFor: (command) => this.trapFor(command),
      ended: () => this.links.delete(link),
    });
    this.links.add(link);
  }

  private trapFor(command: Command): (Trap & { readonly name: string }) | undefined {
    const name = commandName(command);
    this.asked.set(name, (this.asked.get(name) ?? 0) + 1);
    const index = this.traps.findIndex(({ isWanted }) => isWanted(name));
    const trap = index === -1 ? undefined : this.traps.splice(index, 1)[0];
    return trap && { ...trap, name };
  }
}

interface LinkParts {
  readonly mood: () => Mood;
  readonly trapFor: (command: Command) => (Trap & { readonly name: string }) | undefined;
  readonly ended: () => void;
}

/** One connection, from a client to the server and back. */
class Link {
  readonly client: Socket;
  isTruncating = false;
  hasSwallowed = false;
  private readonly upstream: Socket;
  private readonly parts: LinkParts;
  private kept: Buffer[] = [];
  private losing: { trap: Trap & { name: string }; mark: string; seen: string } | undefined;
  private lastWrite = Promise.resolve();

  constructor(client: Socket, upstream: Socket, parts: LinkParts) {
    this.client = client;
    this.upstream = upstream;
    this.parts = parts;
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      socket.on("error", () => this.end());
      socket.on("close", () => this.end());
    }
    const reader = new CommandReader((command, bytes) => this.ask(command, bytes));
    client.on("data", (data) => reader.read(data as Buffer));
    upstream.on("data", (data) => this.answer(data as Buffer));
  }

  end(): void {
    this.parts.ended();
    this.client.destroy();
    this.upstream.destroy();
  }

  /** Sends what was kept back. */
  flush(): void {
    const { kept } = this;
    this.kept = [];
    for (const bytes of kept) this.deliver(bytes, 0);
  }

  private ask(command: Command, bytes: Buffer): void {
    if (this.losing !== undefined) return; // nobody is there any more to hear the answer
    this.upstream.write(bytes);
    const trap = this.parts.trapFor(command);
    if (trap === undefined) return;
    // The answer to a mark behind the command tells that it was executed.
    const mark = `lost-${crypto.randomUUID()}`;
    this.upstream.write(`*2\r\n$4\r\nECHO\r\n$${mark.length}\r\n${mark}\r\n`);
    this.losing = { trap, mark, seen: "" };
  }

  private answer(data: Buffer): void {
    if (this.losing !== undefined) return this.lose(data);
    const mood = this.parts.mood();
    if (this.isTruncating) {
      this.deliver(data.subarray(0, Math.floor(data.length / 2)), 0);
      void this.lastWrite.then(() => this.end());
    } else if (mood === "swallowed") this.hasSwallowed = true;
    else if (mood === "held" || this.kept.length > 0) this.kept.push(data);
    else this.deliver(data, mood?.delayMs ?? 0);
  }

  private deliver(data: Buffer, delayMs: number): void {
    this.lastWrite = Promise.all([this.lastWrite, delayMs === 0 ? undefined : Bun.sleep(delayMs)]).then(
      () => {
        if (!this.client.destroyed) this.client.write(data);
      },
    );
  }

  private lose(data: Buffer): void {
    const losing = this.losing;
    if (losing === undefined) return;
    losing.seen = (losing.seen + data.toString("latin1")).slice(-4096);
    if (!losing.seen.includes(losing.mark)) return;
    const { trap } = losing;
    trap.sprung.resolve({ command: trap.name, wasExecuted: !losing.seen.includes("-NOSCRIPT") });
    if (trap.isCut) this.end();
    else losing.mark = "never"; // and from now on it is silent
  }
}
