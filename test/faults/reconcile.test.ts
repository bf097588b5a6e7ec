import { describe, expect, test } from "bun:test";
import type { Evidence } from "./evidence.ts";
import type { Place, Step } from "./history/history.ts";
import type { Run } from "./ledger.ts";
import { reconcile } from "./reconcile.ts";
import type { Strike } from "./strike.ts";

// A harness that finds nothing proves something only if it would find what is there.

const key = "sleeping/1";

function run(token: string, more: Partial<Run> = {}): Run {
  const times = { beganAt: 100, endedAt: 150, isDone: true };
  return { id: "a", key, token, attempt: 1, node: "n0.1", thread: 1, ...times, ...more };
}

/** One that its process took along. */
function cut(token: string, more: Partial<Run> = {}): Run {
  const { endedAt: _, isDone: __, ...rest } = run(token, more);
  return { ...rest, cutAt: 160 };
}

/** The way of job "a" through places, a claim's with its token; each step a second after the one before. */
function steps(...places: (Place | `claimed ${string}` | undefined)[]): Step[] {
  const split = places.map((place) => place?.split(" ") ?? []);
  return split.slice(1).map(([to, toToken], index) => {
    const [from, fromToken] = split[index] as string[];
    const token = from === "claimed" ? fromToken : toToken;
    return { id: "a", from: from as Place, to: to as Place, token, doneBy: 1000 * (index + 1) };
  });
}

interface Given {
  readonly runs?: readonly Run[];
  readonly steps?: readonly Step[];
  readonly strikes?: readonly Strike[];
  readonly state?: "ready" | "discarded" | "acked" | "lost";
  readonly confirmedAt?: number;
  readonly exits?: ReadonlyMap<string, number>;
}

function evidence(given: Given): Evidence {
  const { runs = [], strikes = [], state = "acked", confirmedAt = 50, exits = new Map() } = given;
  const publication = { what: "confirmed", ids: ["a"], keys: [key], at: confirmedAt } as const;
  return {
    runs,
    strikes,
    harmless: new Set(["script-flush"]),
    exits,
    publications: [publication],
    history: { steps: given.steps ?? [], doubled: [] },
    integrity: {
      states: new Map([["a", state]]),
      isSound: state !== "lost",
      lost: state === "lost" ? ["a"] : [],
    },
  };
}

const kill: Strike = { fault: "sigkill", at: 155, until: 160, scope: ["n0.1"], isFatal: true };
const wellDone = steps(undefined, "ready", "claimed t1", undefined);

describe("a run is accounted for", () => {
  test("a job that ran once and was settled by its claim is sound", () => {
    const verdict = reconcile(evidence({ runs: [run("t1")], steps: wellDone }));
    expect(verdict).toMatchObject({
      published: 1,
      executed: 1,
      executedMoreThanOnce: 0,
      lost: 0,
      problems: [],
    });
  });

  test("a job that is neither done nor stored is lost", () => {
    const verdict = reconcile(evidence({ state: "lost", steps: steps(undefined, "ready", "claimed t1") }));
    expect(verdict.lost).toBe(1);
    expect(verdict.problems[0]).toStartWith("LOST: a");
  });

  test("a job that a kill cut off and that left the store all the same is lost, and settled by a stale claim", () => {
    const verdict = reconcile(
      evidence({ runs: [cut("t1")], state: "lost", steps: wellDone, strikes: [kill] }),
    );
    expect(verdict).toMatchObject({ lost: 1, settledStale: 1 });
  });

  test("what the store forgot with a fault that may do so is rolled back, and lost without one", () => {
    const crash: Strike = {
      fault: "redis-kill-everysec",
      at: 2500,
      until: 3000,
      scope: "all",
      rollsBackSince: 500,
    };
    const forgotten = { state: "lost", confirmedAt: 1000 } as const;
    expect(reconcile(evidence({ ...forgotten, strikes: [crash] }))).toMatchObject({
      rolledBack: 1,
      lost: 0,
      problems: [],
    });
    expect(reconcile(evidence({ ...forgotten, strikes: [crash], confirmedAt: 100 }))).toMatchObject({
      rolledBack: 0,
      lost: 1,
    });
    const ran = { ...forgotten, strikes: [crash], runs: [run("t1", { isDone: false, key: "doomed/1" })] };
    expect(reconcile(evidence(ran))).toMatchObject({ rolledBack: 1, lost: 0, problems: [] });
    const known = steps(undefined, "ready");
    expect(reconcile(evidence({ ...forgotten, strikes: [crash], steps: known }))).toMatchObject({
      rolledBack: 0,
      lost: 1,
    });
    expect(reconcile(evidence(forgotten))).toMatchObject({ rolledBack: 0, lost: 1 });
  });
});

describe("a stale settlement is found", () => {
  const takenOver = (...rest: Parameters<typeof steps>) =>
    steps(undefined, "ready", "claimed t1", "ready", "claimed t2", ...rest);

  test("a job settled while the run of its latest claim goes on", () => {
    const runs = [run("t1"), run("t2", { beganAt: 4100, endedAt: 9000, node: "n1.1" })];
    const stop: Strike = { ...kill, fault: "sigstop", isFatal: false };
    const verdict = reconcile(evidence({ runs, steps: takenOver(undefined), strikes: [stop] }));
    expect(verdict.problems).toEqual(["STALE: a was settled as done under t2 before its run ended"]);
  });

  test("a job that leaves its channel without being claimed", () => {
    const verdict = reconcile(
      evidence({ runs: [run("t1")], steps: steps(undefined, "ready", "claimed t1", "ready", undefined) }),
    );
    expect(verdict.problems).toContain("STALE: a went from ready to nowhere without being claimed");
  });

  test("a job failed while the run of its latest claim goes on", () => {
    const runs = [run("t2", { isDone: false, beganAt: 4100, endedAt: 9000 })];
    const verdict = reconcile(evidence({ runs, steps: takenOver("retrying") }));
    expect(verdict.problems).toContain("STALE: a was failed under t2 before its run ended");
  });

  test("a job failed although its run went well, unless a thread died", () => {
    const failed = steps(undefined, "ready", "claimed t1", "retrying");
    const problem = "STALE: a was failed under t1, and neither did its run fail nor a thread die";
    expect(reconcile(evidence({ runs: [run("t1")], steps: failed })).problems).toContain(problem);
    const death: Strike = { fault: "thread-crash", at: 160, until: 160, scope: ["n0.1"] };
    expect(reconcile(evidence({ runs: [run("t1")], steps: failed, strikes: [death] })).problems).toEqual([]);
  });
});

describe("executions after the first have a cause", () => {
  const again = [cut("t1"), run("t2", { node: "n1.1", beganAt: 2000, endedAt: 2050 })];
  const twice = steps(undefined, "ready", "claimed t1", "ready", "claimed t2", undefined);

  test("the fault that hit the claim before", () => {
    const verdict = reconcile(evidence({ runs: again, steps: twice, strikes: [kill] }));
    expect(verdict).toMatchObject({ causes: { sigkill: 1 }, executedMoreThanOnce: 1, problems: [] });
  });

  test("the crash that made the store forget a settlement, whatever struck later", () => {
    const crash: Strike = {
      fault: "failover-forced",
      at: 200,
      until: 300,
      scope: "all",
      rollsBackSince: 100,
    };
    const later: Strike = { fault: "net-hold", at: 1900, until: 2000, scope: "all" };
    const runs = [run("t1"), run("t2", { beganAt: 2000, endedAt: 2050 })];
    const verdict = reconcile(evidence({ runs, steps: twice, strikes: [crash, later] }));
    expect(verdict.causes).toEqual({ "failover-forced": 1 });
  });

  test("the job's own failure", () => {
    const runs = [run("t1", { isDone: false }), run("t2", { attempt: 2, beganAt: 2000, endedAt: 2050 })];
    const retried = steps(undefined, "ready", "claimed t1", "retrying", "ready", "claimed t2", undefined);
    expect(reconcile(evidence({ runs, steps: retried }))).toMatchObject({
      causes: { failed: 1 },
      problems: [],
    });
  });

  test("without one the run is not sound", () => {
    const elsewhere = { ...kill, scope: ["n1.1"] };
    const harmless: Strike = { fault: "script-flush", at: 120, until: 130, scope: "all" };
    const { problems } = reconcile(evidence({ runs: again, steps: twice, strikes: [elsewhere, harmless] }));
    expect(problems.map((problem) => problem.split(":")[0])).toEqual(["TWICE WITHOUT A CAUSE"]);
  });
});

describe("further faults of the store", () => {
  test("a job in two places, or stored twice", () => {
    const given = evidence({ runs: [run("t1")], steps: [...wellDone, ...steps(undefined, "ready")] });
    const doubled = [{ id: "a", places: ["retries", "channel:default"] }];
    const verdict = reconcile({ ...given, history: { ...given.history, doubled } });
    expect(verdict.problems).toEqual([
      "DOUBLED: a stood in retries and channel:default at a time",
      "DOUBLED: a was stored 2 times",
    ]);
  });

  test("a refused publication that is stored, a job that nobody published, a job that should not be archived", () => {
    const given = evidence({
      runs: [run("t1"), run("t9", { id: "b", key: "sleeping/9" })],
      state: "discarded",
      steps: wellDone,
    });
    const refused = { what: "refused", ids: ["a"], keys: [key], code: "STORE_FULL", at: 10 } as const;
    const verdict = reconcile({ ...given, publications: [...given.publications, refused] });
    expect(verdict.refused).toEqual({ STORE_FULL: 1 });
    expect(verdict.problems).toEqual([
      "REFUSED AND STORED: a",
      "UNPUBLISHED: b ran and nobody published it",
      "WRONG ENDING: a (sleeping/1) is archived",
    ]);
  });

  test("a job that is left in the store", () => {
    const given = evidence({ runs: [run("t1")], state: "ready", steps: steps(undefined, "ready") });
    expect(reconcile(given)).toMatchObject({
      stillStored: 1,
      problems: ["NOT DONE: a is ready after everything was done"],
    });
  });

  test("a store that the integrity check finds unsound", () => {
    const given = evidence({ runs: [run("t1")], steps: wellDone });
    const verdict = reconcile({ ...given, integrity: { ...given.integrity, isSound: false } });
    expect(verdict.problems).toEqual(["the integrity check finds the store unsound"]);
  });
});

describe("faults are counted by what they met", () => {
  test("a fault that met no running claim is not counted", () => {
    const late = { ...kill, at: 500, until: 510 };
    const other = { ...kill, scope: ["n7.1"] };
    const verdict = reconcile(evidence({ runs: [run("t1")], steps: wellDone, strikes: [late, other] }));
    expect(verdict).toMatchObject({ faults: {}, hits: 0, missed: 2 });
  });

  test("a kill counts what it cut off, not what had come to its end", () => {
    const runs = [
      cut("t1"),
      run("t2", { beganAt: 2000, endedAt: 2050, node: "n1.1" }),
      run("t3", { id: "b" }),
    ];
    const twice = steps(undefined, "ready", "claimed t1", "ready", "claimed t2", undefined);
    expect(reconcile(evidence({ runs, steps: twice, strikes: [kill] }))).toMatchObject({
      faults: { sigkill: 1 },
      hits: 1,
    });
  });
});
