import { expect, test } from "bun:test";
import { settingsFrom } from "../../src/config/resolve.ts";
import { systemClock } from "../../src/foundation/clock.ts";
import { PublishUnconfirmed } from "../../src/foundation/errors.ts";
import { Emitter } from "../../src/instrumentation/emitter.ts";
import { silentLogger } from "../../src/instrumentation/logger-output.ts";
import { Publisher } from "../../src/publisher/publisher.ts";
import { storeFor } from "../../src/store/open.ts";
import type { Script } from "../../src/store/redis/script.ts";
import { scripts } from "../../src/store/redis/scripts.ts";
import { type Command, RedisProxy } from "../support/redis-proxy.ts";
import { Site } from "../support/site.ts";

const isCall =
  (script: Script) =>
  ([verb, text]: Command): boolean =>
    (verb === "EVALSHA" && text === script.modern.sha) || (verb === "EVAL" && text === script.modern.text);

/** Where `lua/cycle.lua` finds the acknowledgements, the other settlements, and behind them the free slots. */
const acks = (command: Command) => Number(command[12]);
const others = (command: Command) => Number(command[13]);
const slots = (command: Command) => Number(command[14 + acks(command) * 2 + others(command) * 6]);
const isSettling = (command: Command) =>
  isCall(scripts.cycle)(command) && acks(command) + others(command) > 0;
const isReserving = (command: Command) =>
  isCall(scripts.cycle)(command) && acks(command) + others(command) === 0 && slots(command) > 0;

test("a settle whose reply is lost: the job ran once, is acked once, and the next one runs", async () => {
  await using site = await Site.open();
  await using proxy = await RedisProxy.start(site.redis.port);
  await site.node({ url: proxy.url });
  const lost = proxy.loseReply(isSettling);
  const ids = await site.publishMany("Quick", [["a"], ["b"], ["c"]]);
  await lost;
  for (const key of ["a", "b", "c"]) await site.noted("done", key);
  await site.drained();
  expect(
    site
      .notes("done")
      .map(({ key }) => key)
      .sort(),
  ).toEqual(["a", "b", "c"]);
  expect(await site.catalog.counters()).toMatchObject({ processed: 3, failed: 0, discarded: 0 });
  const report = await site.catalog.integrityCheck({ expectedIds: ids, ackedIds: ids });
  expect(report.isSound).toBe(true);
});

test("a failure whose settlement's reply is lost is one failure and one retry", async () => {
  await using site = await Site.open();
  await using proxy = await RedisProxy.start(site.redis.port);
  await site.node({ url: proxy.url });
  const lost = proxy.loseReply((command) => isSettling(command) && command.includes("retry"));
  await site.publish("Flaky", ["a", 1]);
  await lost;
  expect((await site.noted("done", "a")).attempt).toBe(2);
  await site.drained();
  expect(await site.catalog.counters()).toMatchObject({ processed: 1, failed: 1 });
});

test("a reservation whose reply is lost is put back by its worker and runs", async () => {
  await using site = await Site.open();
  await using proxy = await RedisProxy.start(site.redis.port);
  const node = await site.node({ url: proxy.url });
  await site.catalog.pause("default");
  const id = await site.publish("Quick", ["a"]);
  const lost = proxy.loseReply(isReserving);
  await site.catalog.resume("default");
  await lost;
  await site.noted("done", "a");
  await site.drained();
  expect(site.notes("done")).toHaveLength(1);
  expect(await node.until("put back 1 jobs that a lost reply had reserved")).toBeDefined();
  expect(await site.redis.send("EXISTS", `solid_jobs:crashes:${id}`)).toBe(0);
});

test("a reconciliation whose reply is lost is repeated", async () => {
  await using site = await Site.open();
  await using proxy = await RedisProxy.start(site.redis.port);
  await site.node({ url: proxy.url });
  const lost = [proxy.loseReply(isSettling), proxy.loseReply(isCall(scripts.reconcile))];
  await site.publishMany("Quick", [["a"], ["b"]]);
  await Promise.all(lost);
  await site.noted("done", "b");
  await site.drained();
  expect(site.notes("done")).toHaveLength(2);
  expect(await site.catalog.counters()).toMatchObject({ processed: 2, failed: 0 });
});

test("a promotion and a beat whose replies are lost change nothing", async () => {
  await using site = await Site.open();
  await using proxy = await RedisProxy.start(site.redis.port);
  const node = await site.node({ url: proxy.url });
  const lostPromotion = proxy.loseReply(isCall(scripts.promote));
  const ids = await site.publishMany("Quick", [["a"], ["b"], ["c"]], { due: { afterSeconds: 0.2 } });
  await lostPromotion;
  await proxy.loseReply(isCall(scripts.beat));
  for (const key of ["a", "b", "c"]) await site.noted("done", key);
  await site.drained();
  expect(site.notes("done")).toHaveLength(3);
  expect((await site.catalog.integrityCheck({ expectedIds: ids, ackedIds: ids })).isSound).toBe(true);
  expect(node.count("declared dead")).toBe(0);
  expect(await node.stop()).toBe(0);
});

test("a close and a leave whose replies are lost are repeated", async () => {
  await using site = await Site.open();
  await using proxy = await RedisProxy.start(site.redis.port);
  const node = await site.node({ url: proxy.url });
  await site.publish("Hold", ["a", `${site.folder.path}/gate`]);
  await site.noted("begun");
  const lost = proxy.loseReply(isCall(scripts.revoke));
  const stopped = node.stop();
  await lost;
  site.folder.write("gate");
  const lostLeave = proxy.loseReply(isCall(scripts.recover));
  await lostLeave;
  expect(await stopped).toBe(0);
  expect(site.notes("done")).toHaveLength(1);
  expect(await site.redis.send("KEYS", "solid_jobs:node*")).toEqual([]);
});

test("a publication whose reply is lost is unconfirmed, names its ids, and is stored once", async () => {
  await using site = await Site.open();
  await using proxy = await RedisProxy.start(site.redis.port);
  const settings = settingsFrom({ env: {}, given: { url: proxy.url } });
  const store = storeFor(settings);
  const publisher = new Publisher({
    store: () => store,
    settings,
    interceptors: [],
    emitter: new Emitter([], silentLogger),
    clock: systemClock,
    logger: silentLogger,
  });
  const lost = proxy.loseReply(isCall(scripts.publish));
  const publishing = publisher.publish({ task: "Quick", channel: "default" }, ["a"]);
  await lost;
  const error = await publishing.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(PublishUnconfirmed);
  const { unconfirmedIds, confirmedIds } = error as PublishUnconfirmed;
  expect(confirmedIds).toEqual([]);
  expect(await site.catalog.locate(unconfirmedIds[0]!)).toMatchObject({ place: { state: "ready" } });
  expect((await site.catalog.counters()).ready).toBe(1);
  await store.close();
});

test("a cycle that the server executes long after its worker's end settles and reserves nothing", async () => {
  await using site = await Site.open();
  await using proxy = await RedisProxy.start(site.redis.port);
  const leaving = site.module(
    "leaving.ts",
    `import { Task } from "solid-jobs";
     import { appendFileSync, existsSync } from "node:fs";
     /** Succeeds, and ends its thread while the loop's next cycle is on its way. */
     export class Leaving extends Task {
       executeTask() {
         if (!existsSync("left")) setTimeout(() => process.exit(1), 200);
         appendFileSync("left", "x");
       }
     }
     export class Counted extends Task { executeTask(key: string) { appendFileSync("counted", key); } }`,
  );
  const node = await site.node({ url: proxy.url, modules: [leaving] });
  const late = proxy.holdBack(isSettling);
  await site.publish("Leaving");
  expect(slots(await late.held)).toBe(1);
  await node.until("a worker was replaced");
  await site.until("the job's second run", async () => {
    return (await Bun.file(`${site.folder.path}/left`).text()) === "xx" && (await isEmpty(site));
  });
  node.signal("SIGSTOP");
  await site.publishMany("Counted", [["a"], ["b"]]);
  await late.release();
  expect(await site.catalog.counters()).toMatchObject({ processed: 1, failed: 1 });
  // The replacement may have a cycle of its own on the way and take one; the dead worker's cycle takes none.
  const holders = (await Array.fromAsync(site.catalog.claims())).map(({ holder }) => holder);
  expect(holders.filter((holder) => holder.startsWith("w0-1."))).toEqual([]);
  const { ready } = await site.catalog.counters();
  expect(ready + holders.length).toBe(2);
  node.signal("SIGCONT");
  await site.drained();
  expect([...(await Bun.file(`${site.folder.path}/counted`).text())].sort()).toEqual(["a", "b"]);
});

/** No claim and no claimed payload is stored. */
async function isEmpty(site: Site): Promise<boolean> {
  const keys = (await site.redis.send("KEYS", "solid_jobs:node:*:claim*")) as string[];
  return keys.length === 0;
}
