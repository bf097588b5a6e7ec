import { describe, expect, test } from "bun:test";
import type { ErrorHandler } from "../../src/config/hooks.ts";
import { settingsFrom } from "../../src/config/resolve.ts";
import { decodeEnvelope, encodeEnvelope } from "../../src/envelope/codec.ts";
import { fixedClock } from "../../src/foundation/clock.ts";
import { createLogger } from "../../src/instrumentation/logger-output.ts";
import { Task } from "../../src/task/task.ts";
import type { TaskClass } from "../../src/task/types.ts";
import { Failing } from "../../src/worker/failing.ts";

const never = () => new Promise<never>(() => {});
const nowMs = 1_700_000_000_000;

function failing(errorHandlers: ErrorHandler[] = []) {
  const log: string[] = [];
  const part = new Failing({
    settings: settingsFrom({ env: {} }),
    logger: createLogger({
      level: "error",
      isTty: false,
      write: (line) => void log.push(JSON.parse(line).message),
    }),
    clock: fixedClock(nowMs),
    errorHandlers,
    patienceMs: 10,
    exactBytes: async () => undefined,
  });
  const settle = (taskClass: TaskClass | undefined, maxFailures = 1) => {
    const raw = encodeEnvelope({
      id: "a",
      task: "T",
      channel: "c",
      argumentsJson: "[7]",
      maxFailures,
      nowMs,
    });
    const reservation = { slot: 0, token: "t", channel: "c", raw, earlierAttempts: 0 };
    const job = { reservation, envelope: decodeEnvelope(raw), taskClass, attempt: 1, error: new Error("no") };
    return part.settle(job);
  };
  return { log, settle };
}

class Plain extends Task {
  executeTask() {}
}

describe("a failed job", () => {
  test("is settled with its error and the store's time in its envelope", async () => {
    const { settlement } = await failing().settle(Plain);
    expect(settlement.outcome).toBe("retry");
    const { payload } = settlement as { payload: string };
    expect(decodeEnvelope(payload)).toMatchObject({
      arguments: [7],
      failureCount: 1,
      exceptionType: "Error",
      exceptionMessage: "no",
      firstFailedMs: nowMs,
    });
  });

  test("is settled although the user's code around it throws, which is logged", async () => {
    class Throwing extends Plain {
      static retryDelay = (): number => {
        throw new Error("in retryDelay");
      };
      static afterFinalFailure = async () => {
        throw new Error("in afterFinalFailure");
      };
    }
    const { settle, log } = failing([
      () => {
        throw new Error("in a handler");
      },
    ]);
    expect((await settle(Throwing, 0)).settlement.outcome).toBe("archive");
    expect(log).toEqual(["an error handler threw", "T.retryDelay threw", "T.afterFinalFailure threw"]);
  });

  test("is settled although the user's code around it never ends, which is logged", async () => {
    class Hanging extends Plain {
      static retryDelay = never as unknown as () => undefined; // not what the types allow
      static afterFinalFailure = never;
    }
    const { settle, log } = failing([never]);
    expect((await settle(Hanging, 0)).settlement.outcome).toBe("archive");
    const leftBehind = "has not ended after 0.01 s: it is left behind";
    expect(log).toEqual([
      `an error handler ${leftBehind}`,
      `T.retryDelay ${leftBehind}`,
      `T.afterFinalFailure ${leftBehind}`,
    ]);
  });

  test("of a task that no module has is settled by the default rules", async () => {
    expect((await failing().settle(undefined)).settlement.outcome).toBe("retry");
  });
});
