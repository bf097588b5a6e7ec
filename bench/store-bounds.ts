/**
 * How long the scripts hold Redis in the worst cases that the protocol allows. Prints milliseconds from
 * SLOWLOG; `bun bench/store-bounds.ts`. Redis must not be held over 5 ms (protocol, section 1).
 */
import { cpus } from "node:os";
import type { Settlement } from "../src/store/store.ts";
import { aWorker, cycle, job, jobs, nodeRecord, settle } from "../test/store/conformance/harness.ts";
import { type RedisHarness, redisHarness } from "../test/store/redis/harness.ts";
import { RedisServer } from "../test/support/redis-server.ts";
import { preferred } from "./growth/preferred.ts";

const rounds = 5;
const server = await RedisServer.start({
  args: ["--slowlog-log-slower-than", "0", "--slowlog-max-len", "100000"],
});
preferred(server.pid);
const text = (bytes: number) => `["${"x".repeat(bytes)}"]`;
const slots = (count: number) => Array.from({ length: count }, (_, slot) => slot);
const foreign = (bytes: number, channel = "default") =>
  `{"id":"f${Math.random()}","task":"T","arguments":${text(bytes)},"channel":"${channel}"}`;
const highBytes = (count: number) => Buffer.alloc(count, 0xe9);

interface Case {
  readonly name: string;
  prepare(harness: RedisHarness): Promise<() => Promise<unknown>>;
}

const cases: Case[] = [
  {
    name: "publish 500 jobs of 2 KiB",
    prepare: async ({ store }) => {
      const given = jobs(500, { args: text(1900) });
      return () => store.publish(given);
    },
  },
  {
    name: "publish 20,000 jobs in one call",
    prepare: async ({ store }) => {
      const given = jobs(20_000);
      return () => store.publish(given);
    },
  },
  {
    name: "publish one job of 1 MiB",
    prepare: async ({ store }) => {
      const given = [job({ args: text(1_048_000) })];
      return () => store.publish(given);
    },
  },
  {
    name: "reserve for 200 slots (300 B)",
    prepare: async ({ store }) => {
      const worker = await aWorker(store);
      await store.publish(jobs(250));
      return () => cycle(store, worker, { slots: 200 });
    },
  },
  {
    name: "reserve for 1000 slots (300 B)",
    prepare: async ({ store }) => {
      const worker = await aWorker(store);
      await store.publish(jobs(1200));
      return () => cycle(store, worker, { slots: 1000 });
    },
  },
  {
    name: "reserve for 200 slots (5 KiB, to the byte bound)",
    prepare: async ({ store }) => {
      const worker = await aWorker(store);
      await store.publish(jobs(250, { args: text(5000) }));
      return () => cycle(store, worker, { slots: 200 });
    },
  },
  {
    name: "reserve one of 1 MiB, 200 slots",
    prepare: async ({ store }) => {
      const worker = await aWorker(store);
      for (let i = 0; i < 4; i++) await store.publish([job({ args: text(1_048_000) })]);
      return () => cycle(store, worker, { slots: 200 });
    },
  },
  {
    name: "reserve one of 10 MiB",
    prepare: async ({ store }) => {
      const worker = await aWorker(store);
      await store.publish([job({ args: text(10_480_000) })]);
      return () => cycle(store, worker, { slots: 200 });
    },
  },
  {
    name: "reserve, small ones then 16 of 1 MiB",
    prepare: async ({ store }) => {
      const worker = await aWorker(store);
      await store.publish(jobs(20));
      for (let i = 0; i < 16; i++) await store.publish([job({ args: text(1_048_000) })]);
      return () => cycle(store, worker, { slots: 200 });
    },
  },
  {
    name: "settle 200 and reserve 200 (300 B)",
    prepare: async ({ store }) => {
      const worker = await aWorker(store);
      await store.publish(jobs(450));
      const { reserved } = await cycle(store, worker, { slots: 200 });
      const settlements = reserved.map((each) => settle(each, { outcome: "ack" }));
      return () => cycle(store, worker, { slots: 200, settlements });
    },
  },
  {
    name: "retry 500 (2 KiB)",
    prepare: async ({ store }) => {
      const worker = await aWorker(store);
      await store.publish(jobs(500, { args: text(1800) }));
      const settlements: Settlement[] = [];
      for (let i = 0; i < 2; i++) {
        const { reserved } = await cycle(store, worker, { slots: slots(250).map((slot) => slot + i * 250) });
        settlements.push(
          ...reserved.map((each) => settle(each, { outcome: "retry", delaySeconds: 5, payload: each.raw })),
        );
      }
      return () => cycle(store, worker, { settlements });
    },
  },
  {
    name: "archive 500, trimming 40 each",
    prepare: async ({ store, send, prefix }) => {
      const worker = await aWorker(store);
      await send(
        "EVAL",
        `for i = 1, 60000 do redis.call('ZADD', KEYS[1], i, 'old' .. i .. string.rep('x', 500)) end`,
        1,
        `${prefix}discarded`,
      );
      await store.publish(jobs(500));
      const settlements: Settlement[] = [];
      for (let i = 0; i < 2; i++) {
        const { reserved } = await cycle(store, worker, { slots: slots(250).map((slot) => slot + i * 250) });
        settlements.push(...reserved.map((each) => settle(each, { outcome: "archive", payload: each.raw })));
      }
      return () => cycle(store, worker, { settlements });
    },
  },
  {
    name: "look past 128 barred (300 B)",
    prepare: async ({ store }) => {
      const worker = await aWorker(store);
      await store.publish([...jobs(128, { barrier: "b1" }), job()], "b1");
      return () => cycle(store, worker, { slots: 1 });
    },
  },
  {
    name: "look past 128 barred of 64 KiB",
    prepare: async ({ store }) => {
      const worker = await aWorker(store);
      for (let i = 0; i < 128; i++) await store.publish([job({ barrier: "b1", args: text(65_000) })], "b1");
      return () => cycle(store, worker, { slots: 1 });
    },
  },
  {
    name: "look past 128 barred of 1 MiB",
    prepare: async ({ store }) => {
      const worker = await aWorker(store);
      for (let i = 0; i < 128; i++)
        await store.publish([job({ barrier: "b1", args: text(1_048_000) })], "b1");
      return () => cycle(store, worker, { slots: 1 });
    },
  },
  {
    name: "look past 128 barred in each of 20 channels",
    prepare: async ({ store }) => {
      const worker = await aWorker(store);
      const names = slots(20).map((i) => `c${i}`);
      for (const channel of names) await store.publish(jobs(130, { barrier: "b1", channel }), "b1");
      return () =>
        cycle(store, worker, { slots: 5, channels: names.map((channel) => ({ channel, quota: 5 })) });
    },
  },
  {
    name: "look past 128 barred foreign ones (1 KiB)",
    prepare: async ({ store, push, send, prefix }) => {
      const worker = await aWorker(store);
      await send("SET", `${prefix}publication:b1`, "1");
      const barred = foreign(1000).replace(/}$/, ',"_solid_jobs_publication":"b1"}');
      for (let i = 0; i < 130; i++) await push("default", barred);
      return () => cycle(store, worker, { slots: 1 });
    },
  },
  {
    name: "reserve 200 foreign ones (1 KiB)",
    prepare: async ({ store, push }) => {
      const worker = await aWorker(store);
      for (let i = 0; i < 200; i++) await push("default", foreign(1000));
      return () => cycle(store, worker, { slots: 200 });
    },
  },
  {
    name: "reserve foreign ones of 64 KB",
    prepare: async ({ store, push }) => {
      const worker = await aWorker(store);
      for (let i = 0; i < 20; i++) await push("default", foreign(60_000));
      return () => cycle(store, worker, { slots: 200 });
    },
  },
  {
    name: "reserve a foreign one of numbers, 64 KB",
    prepare: async ({ store, push }) => {
      const worker = await aWorker(store);
      const numbers = Array.from({ length: 12_000 }, (_, i) => i);
      for (let i = 0; i < 4; i++)
        await push(
          "default",
          `{"id":"f${i}","task":"T","arguments":${JSON.stringify(numbers)},"channel":"default"}`,
        );
      return () => cycle(store, worker, { slots: 4 });
    },
  },
  {
    name: "archive 16 garbage of 16 KiB of high bytes",
    prepare: async ({ store, push }) => {
      const worker = await aWorker(store);
      for (let i = 0; i < 20; i++) await push("default", highBytes(16_384));
      return () => cycle(store, worker, { slots: 1 });
    },
  },
  {
    name: "archive 16 garbage of 4 KiB",
    prepare: async ({ store, push }) => {
      const worker = await aWorker(store);
      for (let i = 0; i < 20; i++) await push("default", "\u0001".repeat(4096));
      return () => cycle(store, worker, { slots: 1 });
    },
  },
  {
    name: "archive one garbage of 1 MiB",
    prepare: async ({ store, push }) => {
      const worker = await aWorker(store);
      await push("default", highBytes(1_048_576));
      return () => cycle(store, worker, { slots: 1 });
    },
  },
  {
    name: "archive one garbage of 10 MiB",
    prepare: async ({ store, push }) => {
      const worker = await aWorker(store);
      await push("default", highBytes(10_485_760));
      return () => cycle(store, worker, { slots: 1 });
    },
  },
  {
    name: "promote 100 + 100 (300 B)",
    prepare: async ({ store, put }) => {
      for (const each of jobs(200)) await put("planned", each.payload, 5);
      for (const each of jobs(200)) await put("retries", each.payload, 5);
      return () => store.promoteDue();
    },
  },
  {
    name: "promote 100 + 100 (10 KiB)",
    prepare: async ({ store, put }) => {
      for (const each of jobs(200, { args: text(10_000) })) await put("planned", each.payload, 5);
      for (const each of jobs(200, { args: text(10_000) })) await put("retries", each.payload, 5);
      return () => store.promoteDue();
    },
  },
  {
    name: "promote 1 MiB + 1 MiB",
    prepare: async ({ store, put }) => {
      for (const each of jobs(5, { args: text(1_048_000) })) await put("planned", each.payload, 5);
      for (const each of jobs(5, { args: text(1_048_000) })) await put("retries", each.payload, 5);
      return () => store.promoteDue();
    },
  },
  {
    name: "promote foreign ones of 1 KiB",
    prepare: async ({ store, put }) => {
      for (let i = 0; i < 200; i++) await put("planned", foreign(1000), 5);
      return () => store.promoteDue();
    },
  },
  {
    name: "promote a foreign one of 1 MiB",
    prepare: async ({ store, put }) => {
      await put("planned", foreign(1_048_000), 5);
      return () => store.promoteDue();
    },
  },
  {
    name: "promote garbage of 16 KiB of high bytes",
    prepare: async ({ store, put }) => {
      for (let i = 0; i < 100; i++)
        await put("planned", Buffer.concat([Buffer.from(`${i}`), highBytes(16_370)]), 5);
      return () => store.promoteDue();
    },
  },
  {
    name: "put off 100 (channel of the wrong type)",
    prepare: async ({ store, put, send, prefix }) => {
      await send("SET", `${prefix}channel:bad`, "x");
      for (const each of jobs(150, { channel: "bad" })) await put("planned", each.payload, 5);
      return () => store.promoteDue();
    },
  },
  {
    name: "recover a step of 10,000 claims",
    prepare: async ({ store, plantClaims }) => {
      await store.register(nodeRecord("n~bun:1:0"));
      await plantClaims("n~bun:1:0", jobs(10_000));
      return () => store.recover({ identity: "n~bun:1:0", judge: "n~bun:1:0", isProven: true });
    },
  },
  {
    name: "recover a step of 1 MiB payloads",
    prepare: async ({ store, plantClaims }) => {
      await store.register(nodeRecord("n~bun:1:0"));
      await plantClaims("n~bun:1:0", jobs(5, { args: text(1_048_000) }));
      return () => store.recover({ identity: "n~bun:1:0", judge: "n~bun:1:0", isProven: true });
    },
  },
  {
    name: "recover claims without payloads, 10,000",
    prepare: async ({ store, plantClaims, send, prefix }) => {
      await store.register(nodeRecord("n~bun:1:0"));
      await plantClaims("n~bun:1:0", jobs(10_000));
      await send(
        "EVAL",
        `for _, k in ipairs(redis.call('KEYS', KEYS[1])) do redis.call('DEL', k) end`,
        1,
        `${prefix}node:n~bun:1:0:claimed:*`,
      );
      return () => store.recover({ identity: "n~bun:1:0", judge: "n~bun:1:0", isProven: true });
    },
  },
  {
    name: "revoke a worker of a node with 10,000 claims",
    prepare: async ({ store, plantClaims }) => {
      await store.register(nodeRecord("n~bun:1:0"));
      await plantClaims("n~bun:1:0", jobs(10_000));
      return () => store.revoke("n~bun:1:0", "w5", { isCrash: true });
    },
  },
  {
    name: "reconcile 1000 slots, all unknown",
    prepare: async ({ store }) => {
      const worker = await aWorker(store);
      await store.publish(jobs(1000));
      for (let i = 0; i < 4; i++)
        await cycle(store, worker, { slots: slots(250).map((slot) => slot + i * 250) });
      return () => store.reconcile(worker, "g2", [], 1000);
    },
  },
  {
    name: "reconcile 5 unknown of 1 MiB",
    prepare: async ({ store }) => {
      const worker = await aWorker(store);
      for (let i = 0; i < 5; i++) {
        await store.publish([job({ args: text(1_048_000) })]);
        await cycle(store, worker, { slots: [i] });
      }
      return () => store.reconcile(worker, "g2", [], 5);
    },
  },
  {
    name: "show 1000 running of 256 workers",
    prepare: async ({ store, send, prefix }) => {
      const worker = await aWorker(store);
      const one = {
        token: "t",
        channel: "default",
        envelopeJson: '{"id":"0123456789"}',
        startedAtMs: 5,
        attempt: 1,
      };
      await send(
        "EVAL",
        `for i = 1, 5000 do redis.call('HSET', KEYS[1], 'x' .. i .. '.0', string.rep('x', 200)) end`,
        1,
        `${prefix}node:${worker.node}:work`,
      );
      return () =>
        store.showRunning(
          worker,
          slots(1000).map((slot) => ({ ...one, slot })),
        );
    },
  },
  {
    name: "copy claimed bytes of 1 MiB",
    prepare: async ({ store }) => {
      const worker = await aWorker(store);
      await store.publish([job({ args: text(1_048_000) })]);
      const { reserved } = await cycle(store, worker, { slots: 1 });
      return () => store.claimedBytes(worker, reserved[0]!);
    },
  },
];

/** The slowest script call since the log was cleared, in milliseconds. */
async function slowestMs(): Promise<number> {
  const entries = (await server.send("SLOWLOG", "GET", 1000)) as [number, number, number, string[]][];
  const scripts = entries.filter(([, , , [command]]) => command?.startsWith("EVAL"));
  return Math.max(0, ...scripts.map(([, , micros]) => micros)) / 1000;
}

console.log(
  `# bun ${Bun.version}, ${cpus()[0]?.model.trim()}, ${cpus().length} cores, ${rounds} rounds; worst and median ms`,
);
console.log("worst\tmedian\tcase");
const only = Bun.argv[2] ?? "";
for (const { name, prepare } of cases.filter((each) => each.name.includes(only))) {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const harness = await redisHarness(server.url);
    const act = await prepare(harness);
    await server.send("SLOWLOG", "RESET");
    await act();
    times.push(await slowestMs());
    await harness.close();
    await server.send("FLUSHALL");
  }
  times.sort((a, b) => a - b);
  console.log(`${times.at(-1)!.toFixed(2)}\t${times[Math.floor(rounds / 2)]!.toFixed(2)}\t${name}`);
}
await server.stop();
