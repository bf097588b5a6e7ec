import fc from "fast-check";
import type { Due } from "../../../../src/store/store.ts";
import { job } from "../../steps/scene.ts";
import { channelNames, type ModelJob, pick } from "../model.ts";
import { Step } from "../step.ts";
import { same } from "./expecting.ts";

/** When a job is due, and whether the next promotion moves it. */
const dues: readonly { readonly due?: Due; readonly isDue: boolean; readonly word: string }[] = [
  { isDue: false, word: "now" },
  { due: { afterSeconds: 0 }, isDue: true, word: "in no time" },
  { due: { atSeconds: 1000 }, isDue: true, word: "long ago" },
  { due: { afterSeconds: 3600 }, isDue: false, word: "in an hour" },
];

/** Some jobs of one channel each, all or none of them behind a barrier. */
const publish = fc
  .record({
    jobs: fc.array(
      fc.record({
        channel: fc.constantFrom(...channelNames),
        when: fc.oneof({ weight: 3, arbitrary: fc.constant(dues[0]!) }, fc.constantFrom(...dues)),
      }),
      { minLength: 1, maxLength: 5 },
    ),
    isBarred: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
  })
  .map(
    ({ jobs, isBarred }) =>
      new Step({
        name: `publish(${jobs.map(({ channel, when }) => `${channel} ${when.word}`).join(", ")}${isBarred ? ", barred" : ""})`,
        take: async (model, real) => {
          const barrier = isBarred ? model.nextName("barrier") : undefined;
          const made = jobs.map(({ channel, when }) => {
            const { due } = when;
            const publication = job(model.nextName("job"), {
              channel,
              ...(barrier === undefined ? {} : { barrier }),
              ...(due === undefined ? {} : { due }),
            });
            return { publication, when };
          });
          await real.main.store.publish(
            made.map(({ publication }) => publication),
            barrier,
          );
          if (barrier !== undefined) model.barriers.add(barrier);
          for (const { publication, when } of made) {
            const { id, channel, payload } = publication;
            const state: ModelJob["state"] = when.due === undefined ? "ready" : "planned";
            model.jobs.push({
              id,
              channel,
              payload,
              barrier,
              state,
              isDue: when.isDue,
              crashes: 0,
              suspicion: undefined,
            });
          }
        },
      }),
  );

const releaseBarrier = fc.nat().map(
  (index) =>
    new Step({
      name: `releaseBarrier(${index})`,
      canBeTaken: ({ barriers }) => barriers.size > 0,
      take: async (model, real) => {
        const barrier = pick([...model.barriers], index)!;
        await real.main.store.releaseBarrier(barrier);
        model.barriers.delete(barrier);
      },
    }),
);

/** `rivals`: so many at once. */
const promote = fc.integer({ min: 1, max: 2 }).map(
  (rivals) =>
    new Step({
      name: `promote(${rivals} at once)`,
      take: async (model, real) => {
        const stores = [real.main.store, ...model.nodes.map((node) => real.storeOf(node))].slice(0, rivals);
        const replies = await Promise.all(stores.map((store) => store.promoteDue()));
        for (const [state, field] of [
          ["planned", "planned"],
          ["retrying", "retries"],
        ] as const) {
          const due = model.in(state).filter(({ isDue }) => isDue);
          same(
            `promoted of ${field}`,
            due.length,
            replies.reduce((sum, reply) => sum + reply[field], 0),
          );
          for (const each of due) {
            each.state = "ready";
            each.isDue = false;
          }
        }
        same("problems", "", replies.flatMap(({ problems }) => problems).join());
      },
    }),
);

export const publishingSteps = { publish, releaseBarrier, promote };
