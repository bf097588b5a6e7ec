import { Task } from "solid-jobs";
import { type Marks, openMarks } from "../marks/marks.ts";
import { change } from "./changes.ts";

// Before the worker opens its connection.
change(process.env["EXPERIMENT_CHANGE"] ?? "");

const spinMs = Number(process.env["EXPERIMENT_SPIN_MS"]);
const spinEvery = Number(process.env["EXPERIMENT_SPIN_EVERY"]);
let marks: Marks | undefined;

/** Counts itself, and keeps its thread busy for as long as the environment says. */
export class Grow extends Task {
  async executeTask(index: number): Promise<void> {
    marks ??= openMarks();
    const startMs = marks.begin();
    if (spinMs > 0 && index % spinEvery === 0) spin(spinMs);
    marks.end(index, startMs);
  }
}

function spin(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
