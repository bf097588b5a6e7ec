import { expect, test } from "bun:test";
import { LookAhead } from "../../src/worker/look-ahead.ts";

/** After jobs of one length, and enough calls that got all they asked for. */
function after(ranMs: number, { most = 128, slots = 1, jobs = 100, calls = 20 } = {}): LookAhead {
  const ahead = new LookAhead({ most, slots });
  for (let job = 0; job < jobs; job++) ahead.observe(ranMs);
  for (let call = 0; call < calls; call++) ahead.grow();
  return ahead;
}

test("as many as begin within two milliseconds, and no more than allowed", () => {
  expect(after(0.1).places()).toBe(20);
  expect(after(0.001).places()).toBe(128);
  expect(after(0.001, { most: 8 }).places()).toBe(8);
  expect(after(0).places()).toBe(128);
});

test("long jobs get none", () => {
  expect(after(2.1).places()).toBe(0);
  expect(after(5000).places()).toBe(0);
});

test("with several slots, as many as all of them begin; the thread's CPU may allow fewer", () => {
  expect(after(5, { slots: 50 }).places()).toBe(20);
  expect(after(5, { slots: 50 }).places(3)).toBe(3);
});

test("one long job among short ones is enough to look ahead no more, for a while", () => {
  const ahead = after(0.1);
  ahead.observe(100);
  expect(ahead.places()).toBe(0);
  for (let job = 0; job < 200; job++) ahead.observe(0.1);
  expect(ahead.places()).toBeGreaterThan(0);
});

test("a worker that knows little of its jobs takes none, and one that begins anew starts with one", () => {
  expect(after(0.1, { jobs: 15 }).places()).toBe(0);
  const ahead = after(0.1);
  ahead.startOver();
  expect(ahead.places()).toBe(0);
  ahead.grow();
  expect(ahead.places()).toBe(0);
  ahead.grow();
  expect(ahead.places()).toBe(1);
  ahead.grow();
  expect(ahead.places()).toBe(2);
});

test("none where the setting is 0", () => {
  expect(after(0.1, { most: 0 }).places()).toBe(0);
});
