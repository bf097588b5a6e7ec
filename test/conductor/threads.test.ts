import { afterEach, expect, test } from "bun:test";
import { endPreparedThreads, prepareThread, type Thread, threadFor } from "../../src/conductor/threads.ts";
import { settingsFrom } from "../../src/config/resolve.ts";
import type { FromProbe } from "../../src/worker/messages.ts";

afterEach(endPreparedThreads);

function answerOf(thread: Thread<never, FromProbe>): Promise<FromProbe> {
  return new Promise((resolve) => thread.begin({ settings: settingsFrom({ env: {} }) }, resolve));
}

test("a prepared thread is given away once, and does what one does that was not prepared", async () => {
  const prepared = prepareThread("probe");
  expect(prepareThread("probe")).toBe(prepared);
  const taken = threadFor<never, FromProbe>("probe");
  const other = threadFor<never, FromProbe>("probe");
  expect<unknown>(taken).toBe(prepared);
  expect<unknown>(other).not.toBe(prepared);
  const nothing = { type: "loaded" as const, tasks: [] };
  expect(await Promise.all([answerOf(taken), answerOf(other)])).toEqual([nothing, nothing]);
  await Promise.all([taken.ended, other.ended]);
});

test("a prepared thread that ended meanwhile is not given away", async () => {
  const dead = prepareThread("probe");
  await dead.terminate(1000);
  const living = threadFor<never, FromProbe>("probe");
  expect<unknown>(living).not.toBe(dead);
  expect(await answerOf(living)).toMatchObject({ type: "loaded" });
  await living.ended;
});

test("prepared threads that nobody needs are ended", async () => {
  const prepared = prepareThread("probe");
  await endPreparedThreads();
  expect(prepared.hasEnded).toBe(true);
});
