import { describe, expect, test } from "bun:test";
import { settingsFrom } from "../../src/config/resolve.ts";
import { systemClock } from "../../src/foundation/clock.ts";
import { PublishUnconfirmed, StoreError, StoreFull, StoreUnavailable } from "../../src/foundation/errors.ts";
import { Emitter } from "../../src/instrumentation/emitter.ts";
import type { Instrumenter } from "../../src/instrumentation/events.ts";
import { silentLogger } from "../../src/instrumentation/logger-output.ts";
import { Publisher } from "../../src/publisher/publisher.ts";
import { MemoryPublishStore } from "../support/publish-store.ts";

function gathering(instrumenters: (new () => Instrumenter)[] = []) {
  const store = new MemoryPublishStore();
  const publisher = new Publisher({
    store: () => store,
    settings: settingsFrom({ env: {} }),
    interceptors: [],
    emitter: new Emitter(instrumenters, silentLogger),
    clock: systemClock,
    logger: silentLogger,
    isGathering: true,
  });
  const publish = (id: string, args: readonly unknown[] = [], channel = "default") =>
    publisher.publish({ task: "Mail", channel, id }, args);
  return { store, publisher, publish };
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => String(index));

describe("jobs that are published side by side", () => {
  test("are stored in one call, in their order, and each resolves to its id", async () => {
    const { store, publish } = gathering();
    expect(await Promise.all([publish("a"), publish("b"), publish("c")])).toEqual(["a", "b", "c"]);
    expect(store.batches.map(({ publications }) => publications.map(({ id }) => id))).toEqual([
      ["a", "b", "c"],
    ]);
  });

  test("are stored by at most 500 or 1 MiB in a call", async () => {
    const { store, publish } = gathering();
    await Promise.all(numbered(501).map((id) => publish(id)));
    expect(store.batches.map(({ publications }) => publications.length)).toEqual([500, 1]);
    store.batches.length = 0;
    const third = "x".repeat(400 * 1024);
    await Promise.all(numbered(3).map((id) => publish(id, [third])));
    expect(store.batches.map(({ publications }) => publications.length)).toEqual([2, 1]);
  });

  test("do not wait for the ones that follow", async () => {
    const { store, publish } = gathering();
    const answer = Promise.withResolvers<void>();
    store.beforePublish = () => answer.promise;
    const first = publish("a");
    await Promise.resolve();
    store.beforePublish = () => {};
    expect(await publish("b")).toBe("b");
    expect(store.ids).toEqual(["b"]);
    answer.resolve();
    expect(await first).toBe("a");
  });

  test("with arguments that are refused leave the others alone", async () => {
    const { store, publish } = gathering();
    const [bad, good] = await Promise.allSettled([publish("a", [1n]), publish("b")]);
    expect(bad).toMatchObject({ status: "rejected", reason: { code: "ARGUMENTS" } });
    expect(good).toEqual({ status: "fulfilled", value: "b" });
    expect(store.ids).toEqual(["b"]);
  });

  test("are stored each by itself once the store refuses one of them", async () => {
    const { store, publish } = gathering();
    store.beforePublish = (publications) => {
      if (publications.some(({ channel }) => channel === "spoilt")) throw new StoreError("WRONGTYPE");
    };
    const ends = await Promise.allSettled([publish("a"), publish("b", [], "spoilt"), publish("c")]);
    expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(store.ids).toEqual(["a", "c"]);
  });

  test("fail together at a full store, and none is offered again", async () => {
    const { store, publish } = gathering();
    let calls = 0;
    store.beforePublish = () => {
      calls++;
      throw new StoreFull("full");
    };
    const ends = await Promise.allSettled([publish("a"), publish("b")]);
    for (const end of ends) expect(end).toMatchObject({ status: "rejected", reason: { code: "STORE_FULL" } });
    expect(calls).toBe(1);
  });

  test("are unconfirmed each by its own id when the reply is lost", async () => {
    const { store, publish } = gathering();
    store.beforePublish = () => Promise.reject(new StoreUnavailable("lost", { isSent: true }));
    const ends = await Promise.allSettled([publish("a"), publish("b")]);
    const errors = ends.map((end) => (end as PromiseRejectedResult).reason as PublishUnconfirmed);
    for (const error of errors) expect(error).toBeInstanceOf(PublishUnconfirmed);
    expect(errors.map(({ unconfirmedIds }) => unconfirmedIds)).toEqual([["a"], ["b"]]);
    expect(errors[0]?.message).toContain("whether job a is stored");
  });
});

test("a publisher is idle when its calls have ended, those included that have not begun", async () => {
  const { store, publisher, publish } = gathering();
  const answer = Promise.withResolvers<void>();
  store.beforePublish = () => answer.promise;
  void publish("a");
  const idle = publisher.idle().then(() => store.ids);
  answer.resolve();
  expect(await idle).toEqual(["a"]);
});

test("with an instrumenter each job keeps a call and a barrier of its own", async () => {
  class Listener implements Instrumenter {
    record(): void {}
  }
  const { store, publish } = gathering([Listener]);
  await Promise.all([publish("a"), publish("b")]);
  expect(store.batches.map(({ publications }) => publications.length)).toEqual([1, 1]);
  expect(new Set(store.batches.map(({ barrier }) => barrier)).size).toBe(2);
});
