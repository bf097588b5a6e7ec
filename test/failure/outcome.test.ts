import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { backoffSeconds } from "../../src/failure/backoff.ts";
import {
  cutToBytes,
  type FailingJob,
  failureOutcome,
  isRetryDecision,
  longestRetryDelay,
  type RetryDecision,
} from "../../src/failure/outcome.ts";

const backoff = { retryBase: 15, retryCap: 3600 };
const nowMs = 1_700_000_000_000;

function failed(
  job: Partial<FailingJob> = {},
  decision?: RetryDecision,
  error = new TypeError("no such user"),
) {
  return failureOutcome({ maxFailures: 2, failureCount: 0, ...job }, error, { decision, nowMs, backoff });
}

describe("the default backoff", () => {
  test("doubles its ceiling from the base to the cap", () => {
    const highest = (failureCount: number) => backoffSeconds(failureCount, backoff, () => 1);
    expect([1, 2, 3, 4].map(highest)).toEqual([15, 30, 60, 120]);
    expect([9, 10, 5000].map(highest)).toEqual([3600, 3600, 3600]);
  });

  test("lies in the upper half of its ceiling", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (count, random) => {
          const ceiling = Math.min(15 * 2 ** (count - 1), 3600);
          const delay = backoffSeconds(count, backoff, () => random);
          expect(delay).toBeGreaterThanOrEqual(ceiling / 2);
          expect(delay).toBeLessThanOrEqual(ceiling);
        },
      ),
    );
  });
});

describe("a failure", () => {
  test("is retried up to the allowed number, and final with the one after", () => {
    expect([0, 1, 2].map((failureCount) => failed({ failureCount }).kind)).toEqual([
      "retry",
      "retry",
      "archive",
    ]);
    expect(failed({ maxFailures: 0 }).kind).toBe("archive");
  });

  test("is written down with its count, error and times; the first time stays", () => {
    expect(failed()).toMatchObject({
      revision: {
        failure_count: 1,
        exception_type: "TypeError",
        exception_message: "no such user",
        first_failed_ms: nowMs,
        last_failed_ms: nowMs,
      },
    });
    expect(failed({ failureCount: 1, firstFailedMs: 5 })).toMatchObject({
      revision: { failure_count: 2, first_failed_ms: 5, last_failed_ms: nowMs },
    });
  });

  test("within its time is retried whatever the count, and final after it", () => {
    const job = { retryWithin: 60, maxFailures: 0, failureCount: 99 };
    expect(failed({ ...job, firstFailedMs: nowMs - 59_999 }).kind).toBe("retry");
    expect(failed({ ...job, firstFailedMs: nowMs - 60_000 }).kind).toBe("archive");
    expect(failed({ ...job, failureCount: 0 }).kind).toBe("retry"); // its first one begins the time
  });

  test("goes on in the channel for retries, but is archived under its own", () => {
    expect(failed({ retryChannel: "slow" })).toMatchObject({ kind: "retry", revision: { channel: "slow" } });
    const final = failed({ retryChannel: "slow", maxFailures: 0 });
    expect(final).toMatchObject({ kind: "archive" });
    expect(final).not.toHaveProperty("revision.channel");
  });

  test("goes where the task decides, its seconds over the backoff", () => {
    expect(failed({}, 7)).toMatchObject({ kind: "retry", delaySeconds: 7 });
    expect(failed({}, 0)).toMatchObject({ kind: "retry", delaySeconds: 0 });
    expect(failed({}, "archive").kind).toBe("archive");
    expect(failed({}, "drop")).toEqual({ kind: "drop" });
    expect(failed({ maxFailures: 0 }, 7).kind).toBe("archive"); // no retry is left for them
  });

  test("with an endless name and message keeps their beginnings", () => {
    const error = Object.assign(new Error("é".repeat(5000)), { name: "N".repeat(5000) });
    expect(failed({}, undefined, error)).toMatchObject({
      revision: { exception_type: "N".repeat(255), exception_message: "é".repeat(512) },
    });
  });
});

test("a task may decide on seconds that the stores can keep, drop, archive or nothing", () => {
  const possible = [0, 0.5, longestRetryDelay, "drop", "archive", undefined];
  expect(possible.filter((answer) => !isRetryDecision(answer))).toEqual([]);
  const impossible = [
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e300,
    longestRetryDelay * 2,
    "5",
    null,
    {},
    true,
  ];
  expect(impossible.filter(isRetryDecision)).toEqual([]);
});

test("a cut text is its longest beginning of whole characters", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.nat({ max: 40 }), (text, limit) => {
      const cut = cutToBytes(text, limit);
      expect(text.startsWith(cut)).toBe(true);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(limit);
      const next = [...text.slice(cut.length)][0];
      if (next !== undefined) expect(Buffer.byteLength(cut) + Buffer.byteLength(next)).toBeGreaterThan(limit);
    }),
  );
});
