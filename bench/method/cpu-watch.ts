import { ProcessTree } from "./tree.ts";

/** How much of a processor a process and its descendants take over a span of time. */
export class CpuWatch {
  private readonly tree: ProcessTree;
  private before = new Map<string, number>();
  private beganMs = 0;

  constructor(pid: number) {
    this.tree = new ProcessTree(pid);
  }

  begin(): void {
    this.before = this.tree.threadSeconds();
    this.beganMs = performance.now();
  }

  /**
   * Percent of one core since `begin`. A thread that ended meanwhile is not counted: among the idle there are few.
   */
  percent(): number {
    let seconds = 0;
    for (const [thread, used] of this.tree.threadSeconds()) seconds += used - (this.before.get(thread) ?? 0);
    return (seconds / ((performance.now() - this.beganMs) / 1000)) * 100;
  }
}
