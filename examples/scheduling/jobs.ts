import { Task } from "solid-jobs";

export class Remind extends Task {
  async executeTask(text: string, plannedMs: number) {
    const lateMs = Date.now() - plannedMs;
    console.log(`${text} (${lateMs >= 0 ? "on time or later" : "too early"})`);
  }
}
