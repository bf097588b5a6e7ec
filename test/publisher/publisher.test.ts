import { describe, expect, test } from "bun:test";
import { settingsFrom } from "../../src/config/resolve.ts";
import type { Settings } from "../../src/config/settings.ts";
import { decodeEnvelope } from "../../src/envelope/codec.ts";
import { fixedClock } from "../../src/foundation/clock.ts";
import {
  ArgumentsError,
  PayloadTooLarge,
  PublishUnconfirmed,
  StoreFull,
  StoreUnavailable,
} from "../../src/foundation/errors.ts";
import { Emitter } from "../../src/instrumentation/emitter.ts";
import type { Instrumenter, JobEvent } from "../../src/instrumentation/events.ts";
import { createLogger, silentLogger } from "../../src/instrumentation/logger-output.ts";
import type { PublishInterceptor } from "../../src/interceptor/contexts.ts";
import type { StoreSource } from "../../src/publisher/delivery.ts";
import type { PublicationRequest } from "../../src/publisher/draft.ts";
import { Publisher } from "../../src/publisher/publisher.ts";
import { MemoryPublishStore } from "../support/publish-store.ts";

interface Setup {
  settings?: Partial<Settings>;
  interceptors?: PublishInterceptor[];
  instrumenters?: (new () => Instrumenter)[];
  source?: StoreSource;
  log?: string[];
}

const nowMs = 1_700_000_000_000;
const request: PublicationRequest = { task: "Mail", channel: "default" };

function publishing({ settings = {}, interceptors = [], instrumenters = [], source, log }: Setup = {}) {
  const store = new MemoryPublishStore();
  const write = (line: string) => void log?.push(line);
  const publisher = new Publisher({
    store: source ?? (() => store),
    settings: { ...settingsFrom({ env: {} }), ...settings },
    interceptors,
    emitter: new Emitter(instrumenters, silentLogger),
    clock: fixedClock(nowMs),
    logger: createLogger({ level: "warn", isTty: false, write }),
  });
  return { store, publisher };
}

async function failureOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error("expected a rejection");
}

function numbered(count: number): number[][] {
  return Array.from({ length: count }, (_, index) => [index]);
}

const never = () => new Promise<never>(() => {});

describe("publishing one job", () => {
  test("stores its envelope and resolves to its id", async () => {
    const { store, publisher } = publishing();
    const id = await publisher.publish({ ...request, retryWithin: 60, retryChannel: "slow" }, [1, { a: [] }]);
    expect(store.batches).toHaveLength(1);
    expect(store.batches[0]!.barrier).toBeUndefined();
    const { payload, ...rest } = store.publications[0]!;
    expect(rest).toMatchObject({ id: id!, channel: "default" });
    expect(decodeEnvelope(payload)).toEqual({
      id: id!,
      task: "Mail",
      arguments: [1, { a: [] }],
      channel: "default",
      maxFailures: 25,
      createdMs: nowMs,
      queuedMs: nowMs,
      retryWithin: 60,
      retryChannel: "slow",
      failureCount: 0,
    });
    expect(JSON.parse(payload)._solid_jobs_publication).toBe("-");
  });

  test("takes the id, the failures allowed and the time it is given", async () => {
    const { store, publisher } = publishing();
    const due = { afterSeconds: 30 };
    expect(await publisher.publish({ ...request, id: "mine", maxFailures: 0, due }, [])).toBe("mine");
    expect(store.publications[0]).toMatchObject({ id: "mine", due });
    expect(store.records[0]).toMatchObject({ id: "mine", max_failures: 0 });
  });

  test("over the payload limit is refused with size, limit and setting", async () => {
    const { store, publisher } = publishing({ settings: { payloadLimit: 2000 } });
    const error = await failureOf(publisher.publish(request, ["é".repeat(1000)]));
    expect(error).toBeInstanceOf(PayloadTooLarge);
    expect(error.message).toMatch(/takes 2\d\d\d bytes, the limit is 2000\. .*setting payloadLimit/);
    expect(store.batches).toEqual([]);
    expect(await publisher.publish(request, ["e".repeat(1000)])).toBeString();
  });

  test("with arguments JSON does not carry is refused, or warned of and stored", async () => {
    const strict = publishing();
    const error = await failureOf(strict.publisher.publish(request, [new Date(0)]));
    expect(error).toBeInstanceOf(ArgumentsError);
    expect(strict.store.batches).toEqual([]);
    const log: string[] = [];
    const lenient = publishing({ settings: { onComplexArguments: "warn" }, log });
    await lenient.publisher.publish(request, [new Date(0)]);
    expect(lenient.store.records[0]!.arguments).toEqual(["1970-01-01T00:00:00.000Z"]);
    expect(log.join()).toContain("arguments[0]: a Date");
  });
});

describe("publish interceptors", () => {
  test("may change arguments, channel and time; a time they leave stays on the store's clock", async () => {
    const changing: PublishInterceptor = async (context, next) => {
      context.arguments = [...context.arguments, "traced"];
      context.channel = "low";
      await next();
    };
    const { store, publisher } = publishing({ interceptors: [changing] });
    await publisher.publish({ ...request, due: { afterSeconds: 5 } }, [1]);
    expect(store.publications[0]).toMatchObject({ channel: "low", due: { afterSeconds: 5 } });
    expect(store.records[0]).toMatchObject({ channel: "low", arguments: [1, "traced"] });

    const planning: PublishInterceptor = (context, next) => {
      context.due = new Date(1_800_000_000_000);
      return next();
    };
    const later = publishing({ interceptors: [planning] });
    await later.publisher.publish(request, []);
    expect(later.store.publications[0]!.due).toEqual({ atSeconds: 1_800_000_000 });
  });

  test("see the time as a Date, and may take it away", async () => {
    let seen: Date | undefined;
    const hurrying: PublishInterceptor = (context, next) => {
      seen = context.due;
      delete context.due;
      return next();
    };
    const { store, publisher } = publishing({ interceptors: [hurrying] });
    await publisher.publish({ ...request, due: { afterSeconds: 5 } }, []);
    expect(seen).toEqual(new Date(nowMs + 5000));
    expect(store.publications[0]!.due).toBeUndefined();
  });

  test("stop a publication by not calling next", async () => {
    const { store, publisher } = publishing({ interceptors: [() => "stopped"] });
    expect(await publisher.publish(request, [])).toBeUndefined();
    expect(await publisher.publishMany(request, numbered(3))).toEqual([]);
    expect(store.batches).toEqual([]);
  });

  test("run around each of many, and go on once it is stored", async () => {
    const after: number[] = [];
    const picking: PublishInterceptor = async ({ arguments: [n] }, next) => {
      if ((n as number) % 2 === 1) return;
      await next();
      after.push(store.publications.length);
    };
    const { store, publisher } = publishing({ interceptors: [picking] });
    const ids = await publisher.publishMany(request, numbered(6));
    expect(store.records.map((record) => record.arguments)).toEqual([[0], [2], [4]]);
    expect(ids).toEqual(store.ids);
    expect(after).toEqual([3, 3, 3]);
  });

  test("that are asynchronous work across batches too", async () => {
    const waiting: PublishInterceptor = async (_context, next) => {
      await Promise.resolve();
      await next();
    };
    const { store, publisher } = publishing({ interceptors: [waiting, waiting] });
    expect(await publisher.publishMany(request, numbered(1200))).toEqual(store.ids);
    expect(store.batches.map(({ publications }) => publications.length)).toEqual([500, 500, 200]);
  });

  test("see the store's error, and one that throws ends the publication", async () => {
    const seen: unknown[] = [];
    const watching: PublishInterceptor = (_context, next) =>
      next().catch((error) => {
        seen.push(error);
        throw error;
      });
    const full = new StoreFull("full");
    const { store, publisher } = publishing({ interceptors: [watching] });
    store.beforePublish = () => Promise.reject(full);
    expect(await failureOf(publisher.publishMany(request, numbered(2)))).toBe(full);
    expect(seen).toEqual([full, full]);

    const throwing = publishing({
      interceptors: [
        ({ arguments: [n] }, next) => {
          if (n === 1) throw new RangeError("not this one");
          return next();
        },
      ],
    });
    expect(await failureOf(throwing.publisher.publishMany(request, numbered(3)))).toBeInstanceOf(RangeError);
    expect(throwing.store.batches).toEqual([]);
  });

  test("that forget to await next do not hide the id", async () => {
    const { store, publisher } = publishing({ interceptors: [(_context, next) => void next()] });
    expect(await publisher.publish({ ...request, id: "kept" }, [1])).toBe("kept");
    expect(await publisher.publishMany(request, numbered(2))).toHaveLength(2);
    expect(store.publications).toHaveLength(3);
  });

  test.each([
    [{ channel: "" }, "a channel's name must not be empty"],
    [{ channel: 5 }, "a channel's name must be text, got 5"],
    [{ arguments: { a: 1 } }, "the arguments must be a list, got an object"],
    [{ arguments: undefined }, "the arguments must be a list, got undefined"],
    [{ id: 7 }, "a job's id cannot be changed, got 7"],
  ])("that put in %p are told what is wrong, and nothing is stored", async (change, problem) => {
    const spoiling: PublishInterceptor = (context, next) => {
      Object.assign(context, change);
      return next();
    };
    const { store, publisher } = publishing({ interceptors: [spoiling] });
    const expected = `a publish interceptor spoilt a job of Mail: ${problem}. Nothing was published.`;
    expect((await failureOf(publisher.publish(request, [1]))).message).toBe(expected);
    expect((await failureOf(publisher.publishMany(request, [[1]]))).message).toBe(expected);
    expect(store.batches).toEqual([]);
  });
});

describe("publishing many jobs", () => {
  test("takes arrays, iterables and async iterables, in batches of at most 500", async () => {
    const { store, publisher } = publishing();
    expect(await publisher.publishMany(request, numbered(1001))).toEqual(store.ids);
    expect(store.batches.map(({ publications }) => publications.length)).toEqual([500, 500, 1]);
    await publisher.publishMany(request, new Set(numbered(2)));
    await publisher.publishMany(
      request,
      (async function* () {
        yield [7];
      })(),
    );
    expect(store.records.slice(-3).map((record) => record.arguments)).toEqual([[0], [1], [7]]);
    expect(await publisher.publishMany(request, [])).toEqual([]);
  });

  test("stores at most 1 MiB at a time, but always one", async () => {
    const { store, publisher } = publishing({ settings: { payloadLimit: 3_000_000 } });
    const half = "x".repeat(500_000);
    await publisher.publishMany(request, [[half], [half], [half], ["x".repeat(2_000_000)], [1]]);
    expect(store.batches.map(({ publications }) => publications.length)).toEqual([2, 1, 1, 1]);
  });

  test("pulls lists only as batches are stored", async () => {
    const { store, publisher } = publishing();
    let pulled = 0;
    const atMost: number[] = [];
    store.beforePublish = () => atMost.push(pulled - store.publications.length);
    function* lists(): Generator<number[]> {
      for (; pulled < 5000; ) yield [pulled++];
    }
    await publisher.publishMany(request, lists());
    expect(store.publications).toHaveLength(5000);
    expect(Math.max(...atMost)).toBeLessThanOrEqual(1001);
  });

  test("refuses an element that is no list, and what is no iterable", async () => {
    const { publisher } = publishing();
    const element = await failureOf(publisher.publishMany(request, [[1], 2] as never));
    expect(element.message).toBe("jobs[1]: expected a list of arguments such as [42], got 2");
    expect((await failureOf(publisher.publishMany(request, 5 as never))).message).toContain("got 5");
    expect((await failureOf(publisher.publishMany(request, "ab" as never))).message).toContain('got "ab"');
  });

  test("names the job at fault, ends the iteration and stores nothing of its batch", async () => {
    const { store, publisher } = publishing();
    let isEnded = false;
    function* lists(): Generator<unknown[]> {
      try {
        yield [1];
        yield [{ at: 5n }];
      } finally {
        isEnded = true;
      }
    }
    const error = await failureOf(publisher.publishMany(request, lists()));
    expect(error).toBeInstanceOf(ArgumentsError);
    expect(error.message).toStartWith("jobs[1].arguments[0].at: a bigint");
    expect(isEnded).toBe(true);
    expect(store.batches).toEqual([]);
  });

  test("that breaks off tells which jobs are stored and which may be", async () => {
    const { store, publisher } = publishing();
    store.beforePublish = () => {
      if (store.batches.length === 1) throw new StoreUnavailable("gone", { isSent: true });
    };
    const error = (await failureOf(publisher.publishMany(request, numbered(1500)))) as PublishUnconfirmed;
    expect(error).toBeInstanceOf(PublishUnconfirmed);
    expect(error.confirmedIds).toEqual(store.ids);
    expect(error.unconfirmedIds).toHaveLength(500);
    expect(error.message).toContain("500 jobs are stored (confirmedIds), of 500 it is unknown");
    expect(error.message).toContain("those after them were not sent");
    expect(store.batches).toHaveLength(1);
  });

  test("that breaks off with certainty has stored ids only, and keeps the cause", async () => {
    const { store, publisher } = publishing();
    const full = new StoreFull("full");
    store.beforePublish = () => {
      if (store.batches.length === 1) throw full;
    };
    const error = (await failureOf(publisher.publishMany(request, numbered(600)))) as PublishUnconfirmed;
    expect(error.confirmedIds).toEqual(store.ids);
    expect(error.unconfirmedIds).toEqual([]);
    expect(error.cause).toBe(full);
  });
});

test("a job at fault while a batch is under way does not hide that batch", async () => {
  const { store, publisher } = publishing();
  store.beforePublish = () => new Promise((resolve) => setImmediate(resolve));
  const jobs = [...numbered(700), [5n]];
  const error = (await failureOf(publisher.publishMany(request, jobs))) as PublishUnconfirmed;
  expect(error).toBeInstanceOf(PublishUnconfirmed);
  expect(error.confirmedIds).toHaveLength(500);
  expect(error.confirmedIds).toEqual(store.ids);
  expect(error.cause).toBeInstanceOf(ArgumentsError);

  store.beforePublish = () => Promise.reject(new StoreUnavailable("lost", { isSent: true }));
  const lost = (await failureOf(publisher.publishMany(request, jobs))) as PublishUnconfirmed;
  expect(lost.confirmedIds).toEqual([]);
  expect(lost.unconfirmedIds).toHaveLength(500);
});

describe("the deadline", () => {
  const settings = { publishDeadline: 0.05 };

  test("ends a publication without an answer as unconfirmed, and nothing is sent again", async () => {
    const { store, publisher } = publishing({ settings });
    let calls = 0;
    store.beforePublish = () => {
      calls++;
      return never();
    };
    const error = (await failureOf(publisher.publish({ ...request, id: "a" }, []))) as PublishUnconfirmed;
    expect(error).toBeInstanceOf(PublishUnconfirmed);
    expect(error.unconfirmedIds).toEqual(["a"]);
    expect(error.confirmedIds).toEqual([]);
    expect(error.message).toContain("no answer within 0.05 s (setting publishDeadline)");
    expect(calls).toBe(1);
  });

  test("ends connecting with certainty, and a store that opens late gets nothing", async () => {
    const late = new MemoryPublishStore();
    const opening = Promise.withResolvers<MemoryPublishStore>();
    const { publisher } = publishing({ settings, source: () => opening.promise });
    const error = (await failureOf(publisher.publish(request, []))) as StoreUnavailable;
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect(error.isSent).toBe(false);
    expect(error.message).toContain("could not be reached within 0.05 s");
    opening.resolve(late);
    await opening.promise;
    await publisher.idle();
    expect(late.batches).toEqual([]);
  });

  test("failing to connect is certain, whatever connecting sent", async () => {
    const broken = new StoreUnavailable("no answer to INFO.", { isSent: true });
    const { publisher } = publishing({ source: () => Promise.reject(broken) });
    const error = (await failureOf(publisher.publish(request, []))) as StoreUnavailable;
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect(error.isSent).toBe(false);
    expect(error.message).toBe("no answer to INFO. Nothing was published.");
  });

  test("a store that could not send passes as it is, one that lost the reply does not", async () => {
    const { store, publisher } = publishing();
    const unsent = new StoreUnavailable("down", { isSent: false });
    store.beforePublish = () => Promise.reject(unsent);
    expect(await failureOf(publisher.publish(request, []))).toBe(unsent);
    store.beforePublish = () => Promise.reject(new StoreUnavailable("lost", { isSent: true }));
    const error = await failureOf(publisher.publish(request, []));
    expect(error).toBeInstanceOf(PublishUnconfirmed);
    expect(error.message).toContain("it is unknown whether job");
  });
});

describe("with an instrumenter", () => {
  function listening(setup: Setup = {}, misbehave: (event: JobEvent) => void = () => {}) {
    const story: string[] = [];
    class Listener implements Instrumenter {
      record(event: JobEvent): void {
        story.push(`${event.name} ${event.job.id}`);
        misbehave(event);
      }
    }
    const parts = publishing({ ...setup, instrumenters: [Listener] });
    parts.store.beforePublish = (publications) => {
      story.push(`stored ${publications.map(({ id }) => id)}`);
    };
    parts.store.beforeRelease = () => {
      story.push("released");
    };
    return { ...parts, story };
  }

  test("it is told before and after storing, and only then the barrier is lifted", async () => {
    const { store, publisher, story } = listening();
    await publisher.publish({ ...request, id: "a" }, []);
    expect(story).toEqual(["job.enqueued a", "stored a", "job.journaled a", "released"]);
    const { barrier } = store.batches[0]!;
    expect(barrier).toMatch(/^[0-9a-f]{32}$/);
    expect(store.records[0]!._solid_jobs_publication).toBe(barrier);
    expect(store.released).toEqual([barrier!]);
  });

  test("each batch of many has a barrier of its own, which its envelopes name", async () => {
    const { store, publisher } = listening();
    await publisher.publishMany(request, numbered(1100));
    expect(new Set(store.released).size).toBe(3);
    for (const { barrier, publications } of store.batches) {
      const named = publications.map(({ payload }) => JSON.parse(payload)._solid_jobs_publication);
      expect(new Set(named)).toEqual(new Set([barrier]));
    }
  });

  test("one that throws blocks nothing", async () => {
    const { store, publisher, story } = listening({}, () => {
      throw new Error("broken instrumenter");
    });
    expect(await publisher.publish({ ...request, id: "a" }, [])).toBe("a");
    expect(story).toHaveLength(4);
    expect(store.released).toHaveLength(1);
  });

  test("a barrier that cannot be lifted is warned of, and the job counts as published", async () => {
    const log: string[] = [];
    const { store, publisher } = listening({ log });
    store.beforeRelease = () => Promise.reject(new StoreUnavailable("gone", { isSent: true }));
    expect(await publisher.publish({ ...request, id: "a" }, [])).toBe("a");
    expect(log.join()).toContain("releasing published jobs failed; they start within 30 s");
  });

  test("it learns when a planned job is due, and nothing of one that was refused", async () => {
    const events: JobEvent[] = [];
    const { publisher } = listening({}, (event) => events.push(event));
    await publisher.publish({ ...request, due: { atSeconds: 1_800_000_000 } }, [4]);
    expect(events.map((event) => "dueMs" in event && event.dueMs)).toEqual([1.8e12, 1.8e12]);
    expect(events[0]!.job).toMatchObject({ task: "Mail", arguments: [4], maxFailures: 25 });
    await failureOf(publisher.publish(request, [5n]));
    expect(events).toHaveLength(2);
  });
});
