import fc from "fast-check";
import type { EntrySet } from "../../../../src/store/catalog-store.ts";
import { channelNames, pick } from "../model.ts";
import { Step } from "../step.ts";
import { same } from "./expecting.ts";

const sets: readonly EntrySet[] = ["planned", "retrying", "discarded"];

const pause = fc.constantFrom(...channelNames).map(
  (channel) =>
    new Step({
      name: `pause(${channel})`,
      take: async (model, real) => {
        same("was running", !model.paused.has(channel), await real.main.catalog.pause(channel));
        model.paused.add(channel);
      },
    }),
);

const resume = fc.constantFrom(...channelNames).map(
  (channel) =>
    new Step({
      name: `resume(${channel})`,
      take: async (model, real) => {
        same("was paused", model.paused.has(channel), await real.main.catalog.resume(channel));
        model.paused.delete(channel);
      },
    }),
);

/** One entry of a set goes into its channel, or for good; a second time nothing happens. */
const takeEntry = fc
  .record({
    set: fc.constantFrom(...sets),
    entry: fc.nat(),
    action: fc.constantFrom("requeue", "remove"),
    isTwice: fc.boolean(),
  })
  .map(
    ({ set, entry, action, isTwice }) =>
      new Step({
        name: `${action}(${set} ${entry}${isTwice ? ", twice" : ""})`,
        canBeTaken: (model) => model.in(set).length > 0,
        take: async (model, real) => {
          const job = pick(model.in(set), entry)!;
          const { catalog } = real.main;
          const { items } = await catalog.entries({ state: set }, { id: job.id });
          same("entries of the job", 1, items.length);
          const { locator } = items[0]!;
          if (action === "requeue") same("result", "requeued", await catalog.requeue(set, locator));
          else same("result", true, await catalog.remove(set, locator));
          job.state = action === "requeue" ? "ready" : "gone";
          job.isDue = false;
          if (action === "remove" || set === "discarded") model.acquit(job);
          if (!isTwice) return;
          if (action === "requeue") same("result again", "gone", await catalog.requeue(set, locator));
          else same("result again", false, await catalog.remove(set, locator));
        },
      }),
  );

const requeueStep = fc.record({ set: fc.constantFrom(...sets), most: fc.integer({ min: 1, max: 5 }) }).map(
  ({ set, most }) =>
    new Step({
      name: `requeueStep(${set}, ${most})`,
      take: async (model, real) => {
        const held = model.in(set);
        const reply = await real.main.catalog.requeueStep(set, { skip: 0, most });
        same("requeued", Math.min(most, held.length), reply.requeued);
        same("remaining", held.length - reply.requeued, reply.remaining);
        // Which ones is told by their times, which the model does not keep: those that are ready now.
        const ready = new Set(
          (await real.state()).jobs.filter(({ state }) => state === "ready").map(({ id }) => id),
        );
        for (const job of held.filter(({ id }) => ready.has(id))) {
          if (set === "discarded") model.acquit(job);
          job.state = "ready";
          job.isDue = false;
        }
      },
    }),
);

const purge = fc.constantFrom(...channelNames, ...sets).map(
  (name) =>
    new Step({
      name: `purge(${name})`,
      take: async (model, real) => {
        const set = sets.find((each) => each === name);
        const place = set === undefined ? ({ state: "ready", channel: name } as const) : { state: set };
        const held = model.in(place.state).filter(({ channel }) => set !== undefined || channel === name);
        const reply = await real.main.catalog.purgeStep(place);
        same("removed", held.length, reply.removed);
        same("remaining", 0, reply.remaining);
        for (const job of held) job.state = "gone";
      },
    }),
);

export const administeringSteps = { pause, resume, takeEntry, requeueStep, purge };
