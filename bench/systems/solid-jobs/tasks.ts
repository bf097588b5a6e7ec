import { Task } from "solid-jobs";
import { openMarks } from "../../support/marks.ts";

let mark: ((index: number) => void) | undefined;

/** Does nothing but count itself; async, as jobs are. */
export class Mark extends Task {
  async executeTask(index: number): Promise<void> {
    mark ??= openMarks();
    mark(index);
  }
}
