import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { ClientTask, System } from "../systems/system.ts";
import { cleanEnvironment, killGroup, noteGroup } from "./processes.ts";

/** A client may take this long for one task. */
const giveUpMs = 15 * 60_000;

function spawn(system: System, url: string, task: ClientTask) {
  const child = Bun.spawn([...system.client(url, task)], {
    env: cleanEnvironment(),
    ...{ stdin: "pipe", stdout: "pipe", stderr: "pipe", detached: true },
  });
  noteGroup(child.pid);
  return child;
}

/**
 * Lets a system's client do one task in a fresh process.
 *
 * @returns its answer
 * @throws Error when it fails, or takes over 15 minutes
 */
export async function inClient<T>(system: System, url: string, task: ClientTask): Promise<T> {
  const child = spawn(system, url, task);
  child.stdin.end();
  const late = setTimeout(() => killGroup(child.pid), giveUpMs);
  const [text, said, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  clearTimeout(late);
  killGroup(child.pid);
  const answer = text.trimEnd().split("\n").at(-1) ?? "";
  if (status === 0 && answer.startsWith("{")) return JSON.parse(answer) as T;
  throw new Error(
    `the client of ${system.name} failed at "${task.kind}" with status ${status}: ${(said || text).slice(-600)}`,
  );
}

/** A client that publishes an index whenever it is told to. */
export class FollowingClient {
  private readonly child: ReturnType<typeof spawn>;
  private readonly lines: AsyncIterator<string>;

  private constructor(child: ReturnType<typeof spawn>) {
    this.child = child;
    const input = Readable.fromWeb(child.stdout as never);
    this.lines = createInterface({ input })[Symbol.asyncIterator]();
  }

  /** Resolves when it waits for indexes. @throws Error when it does not start */
  static async start(system: System, url: string): Promise<FollowingClient> {
    const client = new FollowingClient(spawn(system, url, { kind: "follow" }));
    const first = await client.line();
    if (first === "ready") return client;
    await client.close();
    throw new Error(`the client of ${system.name} was expected to say "ready", and said "${first}"`);
  }

  /** Hands an index over; `published` tells when it went. */
  send(index: number): void {
    this.child.stdin.write(`${index}\n`);
    this.child.stdin.flush();
  }

  /** When the next of the indexes was about to be published. @throws Error when the client has ended */
  async published(): Promise<number> {
    const line = await this.line();
    if (line !== undefined && Number(line) > 0) return Number(line);
    throw new Error(`a client was expected to tell a time, and said "${line}"`);
  }

  async close(): Promise<void> {
    this.child.stdin.end();
    const late = setTimeout(() => killGroup(this.child.pid), 5000);
    await this.child.exited;
    clearTimeout(late);
    killGroup(this.child.pid);
  }

  private async line(): Promise<string | undefined> {
    const { value, done } = await this.lines.next();
    return done === true ? undefined : value;
  }
}
