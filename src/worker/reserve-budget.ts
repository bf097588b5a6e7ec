/** A worker reserves no more than it is expected to run in this time, so that others get the rest. */
const budgetMs = 10;
/** How much the newest measure counts. */
const newest = 0.3;
/** No worker has more. */
const mostSlots = 1000;

/**
 * How many jobs a worker with several slots may reserve at once. A worker that took all its slots can hold
 * of CPU-bound jobs would run them one after the other while other workers idle. So it begins with one,
 * may double with each cycle, and never takes more than its thread is expected to run in 10 ms of CPU,
 * by what its jobs have used so far. Jobs that mostly wait cost next to nothing and fill all slots.
 */
export class ReserveBudget {
  private allowed = 1;
  private cpuPerJobMs = 0;
  private unsettledCpuMs = 0;

  /** What to ask for when this many slots are free. */
  limit(freeSlots: number): number {
    const byCpu = this.cpuPerJobMs === 0 ? freeSlots : Math.max(1, Math.floor(budgetMs / this.cpuPerJobMs));
    return Math.min(freeSlots, this.allowed, byCpu);
  }

  /** How many jobs the thread runs in this much CPU, by what they have used so far. */
  jobsWithin(cpuMs: number): number {
    return this.cpuPerJobMs === 0 ? Number.POSITIVE_INFINITY : Math.floor(cpuMs / this.cpuPerJobMs);
  }

  /**
   * After a cycle: whether it got all it asked for, what ended since the one before, the CPU the thread used
   * meanwhile.
   */
  observe({ isFull, ended, cpuMs }: { isFull: boolean; ended: number; cpuMs: number }): void {
    this.unsettledCpuMs += cpuMs;
    if (ended > 0) {
      const perJob = this.unsettledCpuMs / ended;
      this.cpuPerJobMs = this.cpuPerJobMs === 0 ? perJob : this.cpuPerJobMs * (1 - newest) + perJob * newest;
      this.unsettledCpuMs = 0;
    }
    if (isFull && this.allowed < mostSlots) this.allowed *= 2;
  }

  /** The worker waited for work: the next burst may be of another kind. */
  startOver(): void {
    this.allowed = 1;
    this.unsettledCpuMs = 0;
  }
}
