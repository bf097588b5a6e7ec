/**
 * A publisher in a process of its own. It publishes what its plan says, in all the ways there are, and notes
 * each call before and after. What was certainly not stored it publishes again, under another id.
 */

import { pause } from "../../../src/foundation/time.ts";
import { close, configure, PublishUnconfirmed, SolidJobsError } from "../../../src/index.ts";
import { Random } from "../random.ts";
import { type JobKind, jobKinds, kindNamed, workOf } from "./kinds.ts";
import type { PublicationLine } from "./ledger-line.ts";
import type { Work } from "./noting.ts";
import * as tasks from "./tasks.ts";
import { writeLine } from "./write-line.ts";

export interface PublisherPlan {
  readonly seed: number;
  readonly jobs: number;
  /** Over which they are spread. */
  readonly overMs: number;
  /** Makes keys and ids differ from those of the publisher it follows. */
  readonly name: string;
}

const plan = JSON.parse(process.env["FAULTS_PLAN"] ?? "{}") as PublisherPlan;
const classes = new Map(Object.entries(tasks));
const random = new Random(plan.seed);
let ids = 0;

interface Job {
  readonly kind: JobKind;
  readonly work: Work;
}

type Publishing = (ids: readonly string[]) => Promise<readonly string[]>;

/** @returns whether it is known to be stored, or may be */
async function attempt(jobs: readonly Job[], ids: readonly string[], publish: Publishing): Promise<boolean> {
  const keys = jobs.map(({ work }) => work.key);
  const note = (line: Omit<PublicationLine, "keys" | "at">) => writeLine({ ...line, keys, at: Date.now() });
  note({ what: "intent", ids });
  try {
    note({ what: "confirmed", ids: await publish(ids) });
    return true;
  } catch (error) {
    if (!(error instanceof SolidJobsError)) throw error;
    if (!(error instanceof PublishUnconfirmed)) {
      note({ what: "refused", ids, code: error.code });
      return false;
    }
    if (error.confirmedIds.length > 0) note({ what: "confirmed", ids: error.confirmedIds });
    note({ what: "unconfirmed", ids: error.unconfirmedIds, code: error.code });
    return true;
  }
}

async function publish(jobs: readonly Job[]): Promise<void> {
  const [first] = jobs;
  if (first === undefined) return;
  const task = classes.get(first.kind.task) as typeof tasks.Sleeping;
  const delay = random.chance(0.15) ? random.int(1, 12) / 10 : undefined;
  while (!(await attempt(jobs, ...way(task, jobs, delay)))) await pause(random.int(50, 200));
}

/** Without a pause, so that nodes are at work with all their slots for a while. */
async function publishBurst(from: number, count: number): Promise<void> {
  const isHurried = random.chance(0.35);
  for (let done = 0; done < count; ) {
    const kind = isHurried ? kindNamed("instant") : random.weighted(jobKinds);
    const together = Math.min(random.chance(0.3) ? random.int(2, 10) : 1, count - done);
    const jobs = Array.from({ length: together }, (_, i) => ({
      kind,
      work: workOf(kind, `${plan.name}-${from + done + i}`, random),
    }));
    done += together;
    await publish(jobs);
  }
}

/** One job goes alone, at once or later, under an id of ours; several go together. */
function way(
  task: typeof tasks.Sleeping,
  jobs: readonly Job[],
  delay: number | undefined,
): [readonly string[], Publishing] {
  const [first] = jobs as [Job];
  if (jobs.length > 1) {
    return [[], () => task.enqueueMany(jobs.map(({ work }): [Work] => [work]))];
  }
  ids += 1;
  const id = `${plan.name}-${ids}`;
  const enqueuer = task.withOptions({ id });
  const one = () =>
    delay === undefined ? enqueuer.enqueue(first.work) : enqueuer.enqueueAfter(delay, first.work);
  return [[id], async () => [(await one()) ?? ""]];
}

configure({ publishDeadline: 2 });
for (let number = 0; number < plan.jobs; ) {
  const burst = Math.min(random.int(5, 60), plan.jobs - number);
  await publishBurst(number, burst);
  number += burst;
  await pause((plan.overMs * burst) / plan.jobs);
}
await close();
