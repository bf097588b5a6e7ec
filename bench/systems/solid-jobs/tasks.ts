import { Task } from "solid-jobs";
import { type Job, openJob } from "../job.ts";

let job: Job | undefined;

/** Async, as jobs are. */
export class Mark extends Task {
  async executeTask(index: number): Promise<void> {
    job ??= openJob();
    return job(index);
  }
}
