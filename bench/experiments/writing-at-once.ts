import { nowMs } from "../marks/clock.ts";
import { quantile } from "../report/statistics.ts";
import { comparedNodes } from "./compared-nodes.ts";
import type { Experiment, Reading } from "./experiment.ts";
import { onStand, type Stand } from "./stand.ts";

const others = { "gathered by the turn": { change: "auto-pipelining" } };

export const writingAtOnce: Experiment = {
  name: "writing-at-once",
  summary: "commands written as they are sent, against gathered until the event loop turns",
  run: (compare) =>
    onStand(async (stand) => {
      await compare({
        ...{ at: "a command before 2 ms of code", quantities: ["us"] },
        ways: [
          { name: "present", measure: () => executedAfter(stand, false) },
          { name: "gathered by the turn", measure: () => executedAfter(stand, true) },
        ],
      });
      const given = { stand, workers: 1, quantities: ["jobsPerSecond", "workerUs"] } as const;
      const noop = { ...given, jobs: 20_000, warmUp: 8000 };
      await compare(comparedNodes({ ...noop, at: "1 x 1, no-op", slots: 1 }, others));
      await compare(comparedNodes({ ...noop, at: "1 x 50, no-op", slots: 50 }, others));
      await compare(
        comparedNodes(
          { ...given, at: "1 x 1, jobs of 50 us", slots: 1, jobs: 8000, warmUp: 2000, spinMs: 0.05 },
          others,
        ),
      );
    }),
};

const codeMs = 2;

/** When Redis has a command that was sent before code that does not await, by Redis's own clock. */
async function executedAfter(stand: Stand, enableAutoPipelining: boolean): Promise<Reading> {
  const client = await stand.worker({ enableAutoPipelining });
  const afterUs: number[] = [];
  for (let i = 0; i < 100; i++) {
    const sentMs = nowMs();
    const answer = client.send("TIME", []);
    while (nowMs() < sentMs + codeMs);
    const [seconds, micros] = (await answer) as [string, string];
    afterUs.push(Number(seconds) * 1e6 + Number(micros) - sentMs * 1000);
  }
  client.close();
  return { us: quantile(afterUs, 0.5) };
}
