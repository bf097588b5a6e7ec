import { expect } from "bun:test";
import { job } from "./harness.ts";
import type { Suite } from "./suite.ts";

export function waiting({ it }: Suite): void {
  it("is ready at once where the channel holds something, and leaves it as it is", async ({
    store,
    channel,
  }) => {
    const given = [job(), job()];
    await store.publish(given);
    const waiter = store.waiter("default");
    try {
      expect(await waiter.wait(5000)).toBe("ready");
      expect(await waiter.wait(5000)).toBe("ready");
      expect(await channel("default")).toEqual(given.map(({ payload }) => payload));
    } finally {
      waiter.close();
    }
  });

  it("wakes every waiter of a channel when a job is published", async ({ store, another }) => {
    const waiters = [store.waiter("default"), (await another()).waiter("default")];
    try {
      for (const waiter of waiters) expect(await waiter.wait(20)).toBe("quiet"); // both are connected now
      const waits = waiters.map((waiter) => waiter.wait(20_000));
      await store.publish([job()]);
      expect(await Promise.all(waits)).toEqual(["ready", "ready"]);
    } finally {
      for (const waiter of waiters) waiter.close();
    }
  });

  it("wakes at what any other program puts into the channel", async ({ store, push }) => {
    const waiter = store.waiter("default");
    try {
      expect(await waiter.wait(20)).toBe("quiet");
      const wait = waiter.wait(20_000);
      await push("default", job().payload);
      expect(await wait).toBe("ready");
    } finally {
      waiter.close();
    }
  });

  it("wakes when a due job is promoted and when a claim is requeued", async ({
    store,
    put,
    nowMs,
    plantClaims,
  }) => {
    const waiter = store.waiter("default");
    try {
      await put("planned", job().payload, (await nowMs()) - 1);
      const first = waiter.wait(20_000);
      await store.promoteDue();
      expect(await first).toBe("ready");
    } finally {
      waiter.close();
    }
    const other = store.waiter("other");
    try {
      const second = other.wait(20_000);
      await plantClaims("gone~bun:1:aaaaaaaaaaaa", [job({ channel: "other" })]);
      await store.leave("gone~bun:1:aaaaaaaaaaaa");
      expect(await second).toBe("ready");
    } finally {
      other.close();
    }
  });

  it("is quiet after the time asked for", async ({ store }) => {
    const waiter = store.waiter("default");
    try {
      const startedAt = performance.now();
      expect(await waiter.wait(120)).toBe("quiet");
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(110);
    } finally {
      waiter.close();
    }
  });

  it("says paused at once, although the channel holds something", async ({ store, pause, resume }) => {
    await store.publish([job()]);
    await pause("default");
    const waiter = store.waiter("default");
    try {
      expect(await waiter.wait(20_000)).toBe("paused");
      await resume("default");
      expect(await waiter.wait(20_000)).toBe("ready");
    } finally {
      waiter.close();
    }
  });

  it("ends at once when it is closed, while it waits and before", async ({ store }) => {
    const waiter = store.waiter("default");
    expect(await waiter.wait(20)).toBe("quiet");
    const wait = waiter.wait(20_000);
    waiter.close();
    expect(await wait).toBe("closed");
    expect(await waiter.wait(20_000)).toBe("closed");
    waiter.close();
    const unused = store.waiter("default");
    unused.close();
    expect(await unused.wait(20_000)).toBe("closed");
  });

  it("ends at once when it is closed while it still connects", async ({ store }) => {
    const waiter = store.waiter("default");
    const wait = waiter.wait(20_000);
    waiter.close();
    expect(await wait).toBe("closed");
  });
}
