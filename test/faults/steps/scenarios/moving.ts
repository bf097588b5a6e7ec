import { moveJobs } from "../../../../src/catalog/move.ts";
import type { TransferStore } from "../../../../src/store/transfer-store.ts";
import type { Facts } from "../ledger.ts";
import { job, type Scene } from "../scene.ts";
import type { MethodsOf, Scenario } from "./scenario.ts";

const before: Facts = { a: "ready", b: "ready", low: "ready", later: "planned" };

/** A move that is cut off is taken up by another one: then all has arrived, once. */
function moves({
  isDeleting,
  other,
}: {
  isDeleting: boolean;
  other: "same engine" | "other engine";
}): Scenario {
  const move = (scene: Scene) => moveJobs({ from: scene.main, to: scene.other, isDeleting });
  const arrived = (state: string) => (isDeleting ? `other:${state}` : `${state} + other:${state}`);
  const after = Object.fromEntries(Object.entries(before).map(([id, state]) => [id, arrived(state)]));
  return {
    name: `moves all jobs to ${other === "other engine" ? "the other engine" : "another place"}, ${isDeleting ? "deleting" : "keeping"} them here`,
    other,
    before: async ({ main, ledger }) => {
      const jobs = [
        job("a"),
        job("b"),
        job("low", { channel: "low" }),
        job("later", { due: { afterSeconds: 3600 } }),
      ];
      await ledger.will(before, () => main.store.publish(jobs));
    },
    run: async (actor) => {
      await actor.watch();
      await actor.will(after, () => move(actor), { isWhole: false });
    },
    after: (scene) => scene.ledger.will(after, () => move(scene).then(() => {}, unlessFinished)),
  };
}

/** A move that keeps the jobs is refused when an earlier one has ended: it would double them. */
function unlessFinished(error: Error): void {
  if (!error.message.includes("was copied here completely")) throw error;
}

const all: readonly Scenario[] = [true, false].flatMap((isDeleting) =>
  (["same engine", "other engine"] as const).map((other) => moves({ isDeleting, other })),
);

/** What calls each method by which jobs are moved. */
export const transferScenarios = {
  size: all,
  page: all,
  add: all,
  journaled: all,
  remove: all,
  note: all,
  setNote: all,
  forgetStep: all,
  close: [
    {
      name: "closes the way in and out",
      run: async (actor) => {
        await actor.watch();
        await actor.main.transfer.close();
      },
    },
  ],
} satisfies Record<MethodsOf<TransferStore>, readonly Scenario[]>;
