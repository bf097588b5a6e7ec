/** A worker reserves ahead what it will begin within this time. */
const horizonMs = 2;
/** A worker that has run fewer jobs does not know yet how long they take. */
const fewestJobs = 16;
/** How much the newest job counts: one that took longer is believed sooner. */
const whenLonger = 0.3;
const whenShorter = 0.05;

/**
 * How many claims a worker holds beside those that it runs, so that short jobs follow one another without
 * a round trip between them: as many as its jobs' measured time says that it begins within 2 ms. Long jobs get none. A
 * worker that begins, or had nothing to do, starts with none; after two calls that got all they asked for it
 * takes one, and twice as many after each further one.
 */
export class LookAhead {
  private readonly most: number;
  private readonly slots: number;
  private jobMs = 0;
  private jobs = 0;
  /** Calls in a row that got all they asked for. */
  private row = 0;

  /** @param most the setting `look_ahead` */
  constructor({ most, slots }: { most: number; slots: number }) {
    this.most = most;
    this.slots = slots;
  }

  /** A job ended that held its slot for so long, from before it was decoded. */
  observe(ranMs: number): void {
    this.jobs += 1;
    const weight = ranMs > this.jobMs ? whenLonger : whenShorter;
    this.jobMs = this.jobs === 1 ? ranMs : this.jobMs + (ranMs - this.jobMs) * weight;
  }

  /** @param withinCpu how many jobs the thread's CPU allows in 2 ms, where that is known */
  places(withinCpu = Number.POSITIVE_INFINITY): number {
    if (this.most === 0 || this.jobs < fewestJobs) return 0;
    const begun = this.jobMs === 0 ? this.most : Math.floor((this.slots * horizonMs) / this.jobMs);
    const allowed = this.row < 2 ? 0 : 2 ** Math.min(this.row - 2, 20);
    return Math.min(this.most, allowed, begun, withinCpu);
  }

  /** A call got all that it asked for: there is more. */
  grow(): void {
    this.row += 1;
  }

  /** The worker waited for work: the next burst may be a small one. */
  startOver(): void {
    this.row = 0;
  }
}

export { horizonMs as lookAheadMs };
