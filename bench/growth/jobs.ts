import { Task } from "solid-jobs";
import { type Marks, openMarks } from "../marks/marks.ts";

let marks: Marks | undefined;

/** Counts itself and does nothing else; what follows its index is there to be carried. */
export class Grow extends Task {
  async executeTask(index: number, _ballast?: string): Promise<void> {
    marks ??= openMarks();
    marks.end(index, marks.begin());
  }
}
