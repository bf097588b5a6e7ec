import { describe, expect, test } from "bun:test";
import { inTurn, jobsAt } from "../../bench/method/compare.ts";
import { systems } from "../../bench/systems/systems.ts";

test("who goes first changes with every round", () => {
  const contenders = ["a", "b", "c"];
  expect([0, 1, 2].map((round) => inTurn(contenders, round).join(""))).toEqual(["abc", "cba", "abc"]);
  expect(contenders).toEqual(["a", "b", "c"]);
});

describe("the number of jobs", () => {
  const point = { workload: "noop", concurrency: 1, jobs: 1000 } as const;

  test("goes by each system's pace where the work is the system's own", () => {
    expect(jobsAt({ ...point, paced: "each" }, { pace: 5 }, 1)).toBe(5000);
    expect(jobsAt({ ...point, paced: "each" }, { pace: 0.1 }, 1)).toBe(100);
  });

  test("is less for the slow ones only where the work takes its time", () => {
    expect(jobsAt({ ...point, paced: "slow" }, { pace: 5 }, 1)).toBe(1000);
    expect(jobsAt({ ...point, paced: "slow" }, { pace: 0.1 }, 1)).toBe(100);
  });

  test("is the same for all where that is what is asked, and never none", () => {
    expect(jobsAt({ ...point, paced: "none" }, { pace: 0.1 }, 2)).toBe(2000);
    expect(jobsAt({ ...point, paced: "each" }, { pace: 0.1 }, 0.0001)).toBe(1);
  });
});

describe("each system", () => {
  test("has a name of its own", () => {
    const names = systems.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(systems.map((system) => [system.name, system] as const))(
    "%s runs as many jobs at a time as it is asked for, in every shape",
    (_, system) => {
      for (const concurrency of [1, 2, 8, 50, 200]) {
        for (const { workers, slots } of system.shapes(concurrency))
          expect(workers * slots).toBe(concurrency);
      }
      expect(system.shapes(1)).not.toEqual([]);
    },
  );
});
