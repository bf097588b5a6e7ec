import { expect, test } from "bun:test";
import { Deadlines } from "../../src/foundation/deadlines.ts";

test("calls expire in the order of their deadlines, each once, whatever order they were asked in", async () => {
  const deadlines = new Deadlines();
  const expired: string[] = [];
  const all = Promise.withResolvers<void>();
  const note = (name: string) => () => {
    expired.push(name);
    if (expired.length === 3) all.resolve();
  };
  deadlines.after(60, note("late"));
  deadlines.after(5, note("early"));
  deadlines.after(30, note("middle"));
  await keptAlive(all.promise);
  expect(expired).toEqual(["early", "middle", "late"]);
});

test("a call that has ended does not expire, and the ones behind it do", async () => {
  const deadlines = new Deadlines();
  const expired: string[] = [];
  const end = deadlines.after(5, () => expired.push("ended"));
  end();
  await keptAlive(new Promise<void>((resolve) => void deadlines.after(20, resolve)));
  expect(expired).toEqual([]);
});

test("a deadline is never early", async () => {
  const deadlines = new Deadlines();
  const startedAt = performance.now();
  await keptAlive(new Promise<void>((resolve) => void deadlines.after(25, resolve)));
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(25);
});

/** The deadlines' own timer keeps no process alive, so something else must. */
async function keptAlive<T>(promise: Promise<T>): Promise<T> {
  const alive = setInterval(() => {}, 1000);
  try {
    return await promise;
  } finally {
    clearInterval(alive);
  }
}
