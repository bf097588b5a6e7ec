import { existsSync, readFileSync } from "node:fs";
import type { RedisClient } from "bun";
import { catalogScripts } from "../../src/store/redis/catalog-scripts.ts";
import type { Script } from "../../src/store/redis/script.ts";
import { scripts } from "../../src/store/redis/scripts.ts";

/** A call that Redis was busy with for long. */
export interface LongCall {
  /** The script's name, or the command. */
  readonly name: string;
  readonly ms: number;
}

/** What Redis did between two moments. */
export interface RedisWork {
  readonly cpuUs: number;
  /** In `EVALSHA` and `EVAL`. */
  readonly scriptUs: number;
  /** Readings from its connections, without those that measuring takes: round trips, pipelined ones as one. */
  readonly requests: number;
  readonly scriptCalls: number;
  readonly seconds: number;
  readonly connections: number;
  /** How long Redis was ready to run and the system ran something else. */
  readonly waitedMs: number;
  /** From 0.25 ms on, the longest first. */
  readonly longCalls: readonly LongCall[];
}

/** The calls of one or several spans. */
export interface Seen {
  readonly longCalls: readonly LongCall[];
  readonly scriptCalls: number;
  readonly redisWaitedMs: number;
}

export function seenIn(works: readonly RedisWork[]): Seen {
  return {
    longCalls: works.flatMap(({ longCalls }) => longCalls).sort((a, b) => b.ms - a.ms),
    scriptCalls: works.reduce((sum, { scriptCalls }) => sum + scriptCalls, 0),
    redisWaitedMs: works.reduce((sum, { waitedMs }) => sum + waitedMs, 0),
  };
}

interface Reading extends Omit<RedisWork, "seconds" | "longCalls"> {
  readonly atMs: number;
}

/** Calls from this length on are seen one by one (SLOWLOG): writing them down costs time itself. */
const seenFromUs = 250;
const seenAtMost = 20_000;
/** Of the meter between its two counts: the log is emptied and the second count is asked for. */
const ownRequests = 2;

/** What the server is started with. */
export const meterArguments: readonly string[] = [
  ...["--slowlog-log-slower-than", String(seenFromUs)],
  ...["--slowlog-max-len", String(seenAtMost)],
];

/** Tells what a Redis server does while something else happens. */
export class RedisMeter {
  private readonly client: RedisClient;
  private readonly pid: number;

  constructor(client: RedisClient, pid: number) {
    this.client = client;
    this.pid = pid;
  }

  async during(body: () => Promise<unknown>): Promise<RedisWork> {
    const before = await this.read();
    await this.client.send("SLOWLOG", ["RESET"]);
    await body();
    const after = await this.read();
    return {
      cpuUs: after.cpuUs - before.cpuUs,
      scriptUs: after.scriptUs - before.scriptUs,
      scriptCalls: after.scriptCalls - before.scriptCalls,
      requests: after.requests - before.requests - ownRequests,
      waitedMs: after.waitedMs - before.waitedMs,
      seconds: (after.atMs - before.atMs) / 1000,
      connections: after.connections,
      longCalls: await this.longCalls(),
    };
  }

  private async read(): Promise<Reading> {
    const info = String(await this.client.send("INFO", ["everything"]));
    const number = (pattern: RegExp) => Number(pattern.exec(info)?.[1] ?? 0);
    const micros = (command: string) => number(new RegExp(`cmdstat_${command}:calls=\\d+,usec=(\\d+)`));
    const calls = (command: string) => number(new RegExp(`cmdstat_${command}:calls=(\\d+)`));
    return {
      cpuUs: (number(/used_cpu_user:([\d.]+)/) + number(/used_cpu_sys:([\d.]+)/)) * 1e6,
      scriptUs: micros("evalsha") + micros("eval"),
      scriptCalls: calls("evalsha") + calls("eval"),
      requests: number(/total_reads_processed:(\d+)/),
      connections: number(/connected_clients:(\d+)/) - 1,
      waitedMs: this.waitedMs(),
      atMs: performance.now(),
    };
  }

  /** Of its main thread; 0 where the system does not tell. */
  private waitedMs(): number {
    const file = `/proc/${this.pid}/schedstat`;
    return existsSync(file) ? Number(readFileSync(file, "utf8").split(" ")[1]) / 1e6 : 0;
  }

  private async longCalls(): Promise<LongCall[]> {
    const entries = (await this.client.send("SLOWLOG", ["GET", String(seenAtMost)])) as SlowLogEntry[];
    return entries
      .map(([, , micros, command]) => ({ name: nameOf(command), ms: micros / 1000 }))
      .filter(({ name }) => !ownNames.has(name))
      .sort((a, b) => b.ms - a.ms);
  }
}

type SlowLogEntry = [id: number, at: number, micros: number, command: string[]];

const ownNames: ReadonlySet<string> = new Set(["SLOWLOG", "INFO", "RENAME"]);

const scriptNames = new Map(
  [scripts, catalogScripts]
    .flatMap((each) => Object.values<Script>(each))
    .flatMap(({ name, modern, legacy }) => [
      [modern.sha, name],
      [legacy.sha, name],
    ]),
);

function nameOf([command = "", first = ""]: string[]): string {
  if (command.toUpperCase() === "EVALSHA") return `${scriptNames.get(first) ?? first.slice(0, 8)}.lua`;
  return command.toUpperCase();
}
