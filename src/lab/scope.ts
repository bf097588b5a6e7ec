import { processConfiguration, processSettings } from "../config/process.ts";
import { threadEmitter, threadLogger } from "../config/thread-parts.ts";
import { decodeEnvelope } from "../envelope/codec.ts";
import { systemClock } from "../foundation/clock.ts";
import { dueDate } from "../publisher/due.ts";
import { Publisher } from "../publisher/publisher.ts";
import type { Publication, PublishStore } from "../store/store.ts";
import { executeEnvelope } from "../task/inline.ts";
import type { CapturedJob, TaskClass } from "../task/types.ts";

/** A captured job and the class that published it: lab jobs never look a name up in the registry. */
interface Held {
  readonly taskClass: TaskClass;
  readonly job: CapturedJob;
}

/** An execution in a test may take longer than any store would. In seconds, about three weeks. */
const publishDeadline = 2_000_000;

/** One test mode's jobs, for the whole thread or one async context. */
export class LabScope {
  private readonly isExecuting: boolean;
  private held: Held[] = [];

  constructor(mode: "capture" | "execute") {
    this.isExecuting = mode === "execute";
  }

  /** A publisher with the interceptors and checks of the real one, over the mode's own store. */
  publisherFor(taskClass: TaskClass): Publisher {
    return new Publisher({
      store: () => (this.isExecuting ? this.executeStore(taskClass) : this.captureStore(taskClass)),
      settings: { ...processSettings(), publishDeadline },
      interceptors: processConfiguration().hooks.publishInterceptors,
      emitter: threadEmitter(),
      clock: systemClock,
      logger: threadLogger(),
    });
  }

  of(taskClass: TaskClass): readonly CapturedJob[] {
    return this.held.filter((held) => held.taskClass === taskClass).map(({ job }) => job);
  }

  clear(taskClass: TaskClass): void {
    this.held = this.held.filter((held) => held.taskClass !== taskClass);
  }

  async executeNext(taskClass: TaskClass): Promise<unknown> {
    const next = this.held.find((held) => held.taskClass === taskClass);
    if (next !== undefined) return this.execute(next);
    throw new Error(`${taskClass.name}.executeNext(): expected a captured job, got none; enqueue one first`);
  }

  /**
   * Runs captured jobs that are planned up to `until`, the earliest first, those included that they plan
   * themselves.
   *
   * @returns how many ran
   * @throws what the first failing task throws; the remaining ones stay captured
   */
  async executePlanned(until: Date): Promise<number> {
    for (let count = 0; ; count++) {
      const next = earliest(this.held, until);
      if (next === undefined) return count;
      await this.execute(next);
    }
  }

  private async execute(held: Held): Promise<unknown> {
    this.held = this.held.filter((other) => other !== held);
    return executeEnvelope(held.taskClass, held.job.envelope);
  }

  private captureStore(taskClass: TaskClass): PublishStore {
    return labStore(async (publications) => {
      for (const publication of publications) this.hold(taskClass, publication);
    });
  }

  /** Planned jobs are captured: a task that plans its own next run would never end. */
  private executeStore(taskClass: TaskClass): PublishStore {
    return labStore(async (publications) => {
      for (const publication of publications) {
        if (publication.due !== undefined) this.hold(taskClass, publication);
        else await executeEnvelope(taskClass, decodeEnvelope(publication.payload));
      }
    });
  }

  private hold(taskClass: TaskClass, { due, payload }: Publication): void {
    const envelope = decodeEnvelope(payload);
    const { id, channel } = envelope;
    const job = { id, channel, arguments: [...envelope.arguments], envelope };
    const dueAt = due === undefined ? {} : { due: dueDate(due, systemClock.nowMs()) };
    this.held.push({ taskClass, job: { ...job, ...dueAt } });
  }
}

/** Nobody reserves from it, so that its barriers need no lifting. */
function labStore(publish: PublishStore["publish"]): PublishStore {
  return { publish, releaseBarrier: async () => {} };
}

function earliest(held: readonly Held[], until: Date): Held | undefined {
  const dueMs = ({ job }: Held) => job.due?.getTime() ?? Number.POSITIVE_INFINITY;
  const ready = held.filter((each) => dueMs(each) <= until.getTime());
  return ready.sort((one, other) => dueMs(one) - dueMs(other))[0];
}
