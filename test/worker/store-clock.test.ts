import { expect, test } from "bun:test";
import { StoreClock } from "../../src/worker/store-clock.ts";

test("a store's clock is the machine's until an answer tells the time, and goes on from it", async () => {
  const clock = new StoreClock();
  expect(Math.abs(clock.nowMs() - Date.now())).toBeLessThan(1000);
  clock.observe(5000);
  const first = clock.nowMs();
  expect(first).toBeWithin(5000, 6000);
  await Bun.sleep(20);
  expect(clock.nowMs()).toBeGreaterThanOrEqual(first + 15);
  clock.observe(1000);
  expect(clock.nowMs()).toBeWithin(1000, 2000);
});
