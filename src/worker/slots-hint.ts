const windowMs = 5000;
/** Of a core. */
const lowCpuShare = 0.2;
/** Fewer jobs a window than this say nothing about the kind of job. */
const fewestJobs = 5;
/** Jobs that end faster than this are not worth slots: the round trips are what takes the time. */
const shortestJobMs = 2;

/**
 * Whether a worker with one slot would do more with several: for five seconds it always found a job, and
 * used less than a fifth of a core. True once at most.
 */
export class SlotsHint {
  private startedAtMs = 0;
  private startCpuUs = 0;
  private jobs = 0;
  private isGiven = false;

  /** @param cpuUs tells the thread's CPU so far; asking costs as much as much else of a cycle, so it is asked seldom */
  isDue({ hasWork, cpuUs, nowMs }: { hasWork: boolean; cpuUs: () => number; nowMs: number }): boolean {
    if (this.isGiven) return false;
    if (!hasWork) {
      this.startedAtMs = 0;
      return false;
    }
    if (this.startedAtMs === 0) {
      this.begin(cpuUs(), nowMs);
      return false;
    }
    this.jobs += 1;
    const elapsedMs = nowMs - this.startedAtMs;
    if (elapsedMs < windowMs) return false;
    const cpuNowUs = cpuUs();
    const cpuShare = (cpuNowUs - this.startCpuUs) / 1000 / elapsedMs;
    this.isGiven = this.jobs >= fewestJobs && elapsedMs / this.jobs > shortestJobMs && cpuShare < lowCpuShare;
    this.begin(cpuNowUs, nowMs);
    return this.isGiven;
  }

  private begin(cpuUs: number, nowMs: number): void {
    this.startedAtMs = nowMs;
    this.startCpuUs = cpuUs;
    this.jobs = 0;
  }
}
