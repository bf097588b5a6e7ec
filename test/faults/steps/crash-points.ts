import { Database, type Statement } from "bun:sqlite";
import { RedisClient } from "bun";
import type { Ledger } from "./ledger.ts";

/**
 * `calls`: before and after each call of a store. `commands`: before each command is sent to Redis, and when it
 * has been executed but its reply was not yet seen; before and after each statement in SQLite.
 */
export type Level = "calls" | "commands";

/** The point that is the last thing this process does, counted from 0. */
export interface Death {
  readonly level: Level;
  readonly at: number;
}

/** Counts the points at which this process could die while it is watched, and ends it at one of them. */
export class CrashPoints {
  passed: Record<Level, number> = { calls: 0, commands: 0 };
  private readonly death: Death | undefined;
  private readonly calls = new Set<string>();
  private ledger: Ledger | undefined;
  private isWatched = false;

  constructor(death: Death | undefined) {
    this.death = death;
    watchRedis(this);
    watchSqlite(this);
  }

  /** Counts from 0, not yet watched. */
  begin(ledger: Ledger): void {
    this.ledger = ledger;
    this.passed = { calls: 0, commands: 0 };
    this.calls.clear();
  }

  watch(): void {
    this.isWatched = true;
  }

  /** @returns the calls made while watched, such as `Store.publish` */
  end(): string[] {
    this.isWatched = false;
    return [...this.calls];
  }

  /** The same object, each of whose methods is watched. */
  around<T extends object>(object: T, contract: string): T {
    return new Proxy(object, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== "function" || typeof key !== "string") return value;
        return (...args: unknown[]) => this.call(`${contract}.${key}`, () => value.apply(target, args));
      },
    });
  }

  pass(level: Level, point: string, when: "before" | "after"): void {
    if (!this.isWatched) return;
    if (level === this.death?.level && this.passed[level] === this.death.at) {
      this.ledger?.write({ kind: "death", level, point, when });
      process.kill(process.pid, "SIGKILL");
    }
    this.passed[level] += 1;
  }

  private call(name: string, make: () => unknown): unknown {
    this.pass("calls", name, "before");
    if (this.isWatched) this.calls.add(name);
    const result = make();
    if (result instanceof Promise) return this.passedAfter(name, result);
    this.pass("calls", name, "after");
    const isWaiter = typeof result === "object" && result !== null && "wait" in result;
    return isWaiter ? this.around(result, "ChannelWaiter") : result;
  }

  private async passedAfter(name: string, result: Promise<unknown>): Promise<unknown> {
    try {
      return await result;
    } finally {
      this.pass("calls", name, "after");
    }
  }
}

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** Puts a watched method in the place of each. */
function replace(
  object: object,
  names: readonly string[],
  make: (method: Method, name: string) => Method,
): void {
  const methods = object as Record<string, Method>;
  for (const name of names) methods[name] = make(methods[name]!, name);
}

function watchRedis(points: CrashPoints): void {
  replace(RedisClient.prototype, ["send", "getBuffer"], (method, name) => {
    return async function (this: unknown, ...args) {
      const point = name === "send" ? String(args[0]) : "GET";
      points.pass("commands", point, "before");
      try {
        return await method.apply(this, args);
      } finally {
        points.pass("commands", point, "after");
      }
    };
  });
}

const runners = ["run", "get", "all", "values", "raw", "iterate"];

function watchSqlite(points: CrashPoints): void {
  const watched = new WeakSet<object>();
  replace(Database.prototype, ["prepare", "query"], (method) => {
    return function (...args) {
      const statement = method.apply(this, args) as Statement;
      if (watched.has(statement)) return statement;
      watched.add(statement);
      replace(statement, runners, (runner) => around(points, String(args[0]), runner));
      return statement;
    };
  });
  replace(Database.prototype, ["run", "exec"], (method) => {
    return function (...args) {
      return around(points, String(args[0]), method).apply(this, args);
    };
  });
}

function around(points: CrashPoints, sql: string, method: Method): Method {
  return function (...args) {
    points.pass("commands", sql, "before");
    try {
      return method.apply(this, args);
    } finally {
      points.pass("commands", sql, "after");
    }
  };
}
