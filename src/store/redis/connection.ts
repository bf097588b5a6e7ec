import { RedisClient } from "bun";
import { Deadlines } from "../../foundation/deadlines.ts";
import { SolidJobsError, StoreUnavailable } from "../../foundation/errors.ts";
import { randomHex } from "../../foundation/ids.ts";
import { pause } from "../../foundation/time.ts";
import type { RedisAddress } from "./address.ts";
import type { Script } from "./script.ts";
import { isNoScript, translated } from "./server-errors.ts";

export type RedisArgument = string | number | Uint8Array;

export interface CallOptions {
  /** Milliseconds for the answer, connecting included. Default 5,000. */
  readonly deadlineMs?: number;
}

/** What a server says of itself when a connection begins. */
export interface ServerFacts {
  readonly version: string;
  readonly mode: string;
  /** Changes when the server restarts; empty where INFO is forbidden. */
  readonly runId: string;
}

const defaultDeadlineMs = 5000;
/** A connection is made within this time, so that the reason comes before a usual call's deadline. */
const openingMs = 4500;
/** Reconnecting waits 50 ms after the first failure, twice as long after each further one, up to this. */
const longestDelayMs = 2000;

/**
 * One supervised connection. Bun's client is used for one connection each time, never for its own
 * reconnecting: that replays queued commands, gives up for ever after a timeout and can hand a reply to
 * the wrong caller. Here:
 *
 * - a fresh client after each failure, after a growing delay, made by the next call; the delay begins again
 *   at its shortest once a command was answered, not when a connection was made;
 * - every call has a deadline: a command without an answer is given up and its connection replaced;
 * - nothing is ever sent again, except a script as EVAL after NOSCRIPT, which did not run;
 * - every script reply echoes a nonce; a reply to another call closes the connection.
 */
export class RedisConnection {
  /** Counts the connections made: a change tells a caller that commands may have been lost. */
  epoch = 0;
  facts: ServerFacts | undefined;
  private readonly address: RedisAddress;
  private readonly writesAtOnce: boolean;
  private client: RedisClient | undefined;
  private opening: Promise<RedisClient> | undefined;
  private openingClient: RedisClient | undefined;
  private failures = 0;
  private retryAtMs = 0;
  private readonly closing = new AbortController();
  private readonly deadlines = new Deadlines();
  private readonly nonceBase = randomHex(6);
  private nonceCount = 0;
  /** The server is older than Redis 7. */
  private isLegacy = false;

  /**
   * @param writesAtOnce hands each command to the system when it is sent. Otherwise those of one turn of the event
   * loop go together, at its end: less work for many at a time, but nothing leaves while code runs.
   */
  constructor(address: RedisAddress, { writesAtOnce = false } = {}) {
    this.address = address;
    this.writesAtOnce = writesAtOnce;
  }

  /**
   * Connects where there is no connection, and answers with the epoch of the one there is. Calls made before
   * the caller awaits anything else all go out on that connection, in their order.
   */
  async ready(options?: CallOptions): Promise<number> {
    if (this.client === undefined) await this.connected(options?.deadlineMs ?? defaultDeadlineMs);
    return this.epoch;
  }

  /** Sends one command. Errors are those of `foundation/errors.ts`. */
  async call(command: string, args: readonly RedisArgument[], options?: CallOptions): Promise<unknown> {
    const deadlineMs = options?.deadlineMs ?? defaultDeadlineMs;
    const client = this.client ?? (await this.connected(deadlineMs));
    return this.send(client, command, args, deadlineMs);
  }

  /**
   * Runs a script. The nonce is its first argument and comes back as the first element of its reply.
   *
   * @returns the reply without the nonce
   */
  async script(
    script: Script,
    keys: readonly string[],
    args: readonly RedisArgument[],
    options?: CallOptions,
  ): Promise<unknown[]> {
    return (await this.scriptWithNonce(script, keys, args, options)).reply;
  }

  /** As `script`, and tells the nonce: claim tokens begin with it. */
  async scriptWithNonce(
    script: Script,
    keys: readonly string[],
    args: readonly RedisArgument[],
    options?: CallOptions,
  ): Promise<{ reply: unknown[]; nonce: string }> {
    const deadlineMs = options?.deadlineMs ?? defaultDeadlineMs;
    const client = this.client ?? (await this.connected(deadlineMs));
    const nonce = this.nextNonce();
    const { sha, text } = this.isLegacy ? script.legacy : script.modern;
    const sent = [sha, keys.length, ...keys, nonce, ...args];
    let reply: unknown;
    try {
      reply = await this.send(client, "EVALSHA", sent, deadlineMs);
    } catch (error) {
      if (!(error instanceof SolidJobsError && isNoScript(error.cause))) throw error;
      sent[0] = text;
      reply = await this.send(client, "EVAL", sent, deadlineMs);
    }
    if (!Array.isArray(reply) || reply[0] !== nonce) {
      this.discard(client);
      throw new StoreUnavailable(
        `${this.address.display} sent the reply of another call; the connection was closed`,
        {
          isSent: true,
        },
      );
    }
    return { reply: reply.slice(1), nonce };
  }

  /** The bytes of a string key, or null. */
  async bytes(key: string): Promise<Uint8Array | null> {
    const client = this.client ?? (await this.connected(defaultDeadlineMs));
    return this.guarded(client, client.getBuffer(key), defaultDeadlineMs);
  }

  /** Ends the connection; calls under way and later ones fail. */
  close(): void {
    this.closing.abort();
    this.openingClient?.close();
    if (this.client !== undefined) this.discard(this.client);
  }

  /** Unique in the whole store: also the base of the claim tokens of a cycle. */
  private nextNonce(): string {
    this.nonceCount += 1;
    return `${this.nonceBase}${this.nonceCount.toString(36)}`;
  }

  private send(client: RedisClient, command: string, args: readonly RedisArgument[], deadlineMs: number) {
    return this.guarded(client, client.send(command, args as string[]), deadlineMs);
  }

  /** Waits for an answer until the deadline; a broken or silent connection is discarded. */
  private guarded<T>(client: RedisClient, answer: Promise<T>, deadlineMs: number): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const end = this.deadlines.after(deadlineMs, () => {
        this.fail(client);
        reject(
          new StoreUnavailable(`${this.address.display} gave no answer within ${deadlineMs} ms`, {
            isSent: true,
          }),
        );
      });
      answer.then(
        (value) => {
          end();
          this.failures = 0;
          resolve(value);
        },
        (error) => {
          end();
          const translation = translated(error, { address: this.address.display, isSent: true });
          if (translation instanceof StoreUnavailable) this.fail(client);
          reject(translation);
        },
      );
    });
  }

  private async connected(deadlineMs: number): Promise<RedisClient> {
    const deadlineAt = performance.now() + deadlineMs;
    this.refuseWhenClosed();
    const waitMs = this.retryAtMs - performance.now();
    if (this.opening === undefined && waitMs > 0) {
      await pause(Math.min(waitMs, deadlineMs), this.closing.signal);
      this.refuseWhenClosed();
      if (waitMs >= deadlineMs) throw this.unreachable("it failed a moment ago and is tried again soon");
    }
    if (this.client !== undefined) return this.client;
    this.opening ??= this.open().finally(() => {
      this.opening = undefined;
    });
    const remainingMs = Math.max(1, deadlineAt - performance.now());
    const timer = Promise.withResolvers<never>();
    const handle = setTimeout(
      () => timer.reject(this.unreachable(`not connected within ${deadlineMs} ms`)),
      remainingMs,
    );
    try {
      return await Promise.race([this.opening, timer.promise]);
    } finally {
      clearTimeout(handle);
    }
  }

  /** The first command of a client, sent without `connect()`, is the one that tells the true reason. */
  private async open(): Promise<RedisClient> {
    const client = new RedisClient(this.address.url, {
      autoReconnect: false,
      maxRetries: 0,
      connectionTimeout: openingMs,
      idleTimeout: 0,
      enableAutoPipelining: !this.writesAtOnce,
      ...(this.address.tls ? { tls: this.address.tls } : {}),
    });
    this.openingClient = client;
    const silence = setTimeout(() => client.close(), openingMs); // a server that accepts and is silent
    try {
      const hello = await client.send("HELLO", ["3"]);
      this.facts = { ...helloFacts(hello), runId: await runId(client) };
      this.isLegacy = Number.parseInt(this.facts.version, 10) < 7;
    } catch (error) {
      client.close();
      this.delayNext();
      throw translated(error, { address: this.address.display, isSent: false });
    } finally {
      clearTimeout(silence);
      this.openingClient = undefined;
    }
    if (this.closing.signal.aborted) client.close();
    this.refuseWhenClosed();
    client.onclose = () => this.discard(client);
    this.epoch += 1;
    this.client = client;
    return client;
  }

  /** After a command that failed with its connection. Others under way on it fail too, and count as one. */
  private fail(client: RedisClient): void {
    if (this.client !== client) return;
    this.discard(client);
    this.delayNext();
  }

  private delayNext(): void {
    this.failures += 1;
    const delayMs = Math.min(50 * 2 ** (this.failures - 1), longestDelayMs);
    this.retryAtMs = performance.now() + delayMs * (0.5 + Math.random() / 2);
  }

  private refuseWhenClosed(): void {
    if (this.closing.signal.aborted) throw this.unreachable("this connection was closed");
  }

  private discard(client: RedisClient): void {
    if (this.client === client) this.client = undefined;
    client.onclose = () => {};
    client.close();
  }

  private unreachable(reason: string): StoreUnavailable {
    return new StoreUnavailable(`no connection to ${this.address.display}: ${reason}`, { isSent: false });
  }
}

function helloFacts(hello: unknown): { version: string; mode: string } {
  const record = (Array.isArray(hello) ? pairs(hello) : hello) as Record<string, unknown> | null;
  return { version: String(record?.["version"] ?? ""), mode: String(record?.["mode"] ?? "standalone") };
}

function pairs(flat: unknown[]): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (let i = 0; i + 1 < flat.length; i += 2) record[String(flat[i])] = flat[i + 1];
  return record;
}

/** Empty where the user may not use INFO. */
async function runId(client: RedisClient): Promise<string> {
  try {
    return /run_id:(\w+)/.exec(String(await client.send("INFO", ["server"])))?.[1] ?? "";
  } catch (error) {
    if (/NOPERM/.test(String(error))) return "";
    throw error;
  }
}
