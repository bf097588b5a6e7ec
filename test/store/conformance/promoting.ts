import { expect } from "bun:test";
import { decodeEnvelope } from "../../../src/envelope/codec.ts";
import { job, jobs, payloads } from "./harness.ts";
import type { Suite } from "./suite.ts";

export function promoting({ it }: Suite): void {
  it("moves what is due into its channel, the earliest first, with a new queued time and all else as it was", async ({
    store,
    channel,
    planned,
    knownChannels,
    put,
    nowMs,
  }) => {
    const now = await nowMs();
    const args = '[12345678901234567890,{"queued_ms":5,"a":[]},"\\u00e9"]';
    const [late, early, future] = [
      job({ channel: "c", args }),
      job({ channel: "c", args }),
      job({ channel: "c" }),
    ];
    await put("planned", late.payload, now - 10);
    await put("planned", early.payload, now - 20);
    await put("planned", future.payload, now + 60_000);
    const reply = await store.promoteDue();
    expect(reply).toMatchObject({ planned: 2, retries: 0, problems: [] });
    expect(reply.nextInMs).toBeGreaterThan(55_000);
    expect(reply.nextInMs).toBeLessThanOrEqual(60_000);
    const queued = await channel("c");
    expect(queued.map((each) => each.replace(/"queued_ms":\d{13},/, '"queued_ms":1700000000000,'))).toEqual(
      payloads([early, late]),
    );
    for (const each of queued) expect(decodeEnvelope(each).queuedMs).toBeGreaterThanOrEqual(Math.floor(now));
    expect((await planned()).map(({ payload }) => payload)).toEqual([future.payload]);
    expect(await knownChannels()).toContain("c");
  });

  it("goes by the store's clock: what is due an hour ago by any node's clock waits until then", async ({
    store,
    planned,
    nowMs,
  }) => {
    await store.publish([job({ due: { atSeconds: (await nowMs()) / 1000 + 0.3 } })]);
    let reply = await store.promoteDue();
    expect(reply.planned).toBe(0);
    expect(reply.nextInMs).toBeGreaterThan(0);
    await Bun.sleep(reply.nextInMs!);
    reply = await store.promoteDue();
    expect(reply.planned).toBe(1);
    expect(reply.nextInMs).toBeUndefined();
    expect(await planned()).toEqual([]);
  });

  it("moves retries to the channel they name", async ({ store, channel, put, nowMs }) => {
    await put("retries", job({ channel: "slow" }).payload, (await nowMs()) - 1);
    expect(await store.promoteDue()).toMatchObject({ planned: 0, retries: 1, nextInMs: undefined });
    expect(await channel("slow")).toHaveLength(1);
  });

  it("moves at most 100 of each set in a call, so that neither starves the other", async ({
    store,
    channel,
    put,
    nowMs,
  }) => {
    const now = await nowMs();
    await store.publish(jobs(250, { channel: "p", due: { atSeconds: 1 } }));
    for (const each of jobs(120, { channel: "r" })) await put("retries", each.payload, now - 1);
    expect(await store.promoteDue()).toMatchObject({ planned: 100, retries: 100, nextInMs: 0 });
    expect(await store.promoteDue()).toMatchObject({ planned: 100, retries: 20, nextInMs: 0 });
    expect(await store.promoteDue()).toMatchObject({ planned: 50, retries: 0, nextInMs: undefined });
    expect([(await channel("p")).length, (await channel("r")).length]).toEqual([250, 120]);
  });

  it("moves no more than about 1 MiB of a set in a call, but always one", async ({
    store,
    channel,
    put,
    nowMs,
  }) => {
    const now = await nowMs();
    const large = Array.from({ length: 4 }, () => job({ args: `["${"x".repeat(700_000)}"]` }));
    const huge = job({ args: `["${"x".repeat(5_000_000)}"]` });
    for (const [i, each] of [...large, huge].entries()) await put("planned", each.payload, now - 100 + i);
    const moved: number[] = [];
    for (let reply = await store.promoteDue(); ; reply = await store.promoteDue()) {
      moved.push(reply.planned);
      if (reply.nextInMs === undefined) break;
    }
    expect(moved).toEqual([1, 1, 1, 1, 1]);
    expect(await channel("default")).toHaveLength(5);
  });

  it("moves a foreign envelope as it is", async ({ store, channel, put, nowMs }) => {
    const foreign =
      '{"task": "T", "arguments": [{"channel":"inner"}], "channel": "ruby", "id": "a", "n": 1e2}';
    await put("planned", foreign, (await nowMs()) - 1);
    expect(await store.promoteDue()).toMatchObject({ planned: 1, problems: [] });
    expect(await channel("ruby")).toEqual([foreign]);
  });

  it("archives what is no envelope and says so", async ({ store, planned, discarded, put, nowMs }) => {
    const now = await nowMs();
    for (const text of ["junk", "[]", '{"id":"a"}', '{"channel":"c"}']) await put("planned", text, now - 1);
    const good = job();
    await put("planned", good.payload, now);
    const reply = await store.promoteDue();
    expect(reply.planned).toBe(1);
    expect(reply.problems).toHaveLength(4);
    expect(await planned()).toEqual([]);
    const archived = (await discarded()).map(({ payload }) => {
      decodeEnvelope(payload);
      return (JSON.parse(payload) as { raw: string }).raw;
    });
    expect(archived.toSorted()).toEqual(["[]", "junk", '{"channel":"c"}', '{"id":"a"}'].toSorted());
  });

  it("two callers at once move each job once", async ({ store, another, channel }) => {
    const given = jobs(300, { due: { atSeconds: 1 } });
    await store.publish(given);
    const stores = [store, await another(), await another()];
    let moved = 0;
    for (let round = 0; round < 3; round++) {
      const replies = await Promise.all(stores.map((each) => each.promoteDue()));
      moved += replies.reduce((sum, { planned }) => sum + planned, 0);
    }
    expect(moved).toBe(300);
    expect(await channel("default")).toHaveLength(300);
  });

  it("has nothing to do where nothing is stored", async ({ store }) => {
    expect(await store.promoteDue()).toEqual({ planned: 0, retries: 0, nextInMs: undefined, problems: [] });
  });
}
