import { openMarks } from "../marks/marks.ts";
import { openBody } from "../workloads/bodies.ts";

/** Runs the job with this index and marks it. A promise only where its body waits. */
export type Job = (index: number) => Promise<void> | undefined;

/** This thread's jobs: the body and the marks that the environment asks for. */
export function openJob(): Job {
  const body = openBody();
  const marks = openMarks();
  return (index) => {
    const startMs = marks.begin();
    let result: Promise<unknown> | undefined;
    try {
      result = body(index);
    } catch (error) {
      marks.fail();
      throw error;
    }
    if (result === undefined) {
      marks.end(index, startMs);
      return undefined;
    }
    return result.then(
      () => marks.end(index, startMs),
      (error) => {
        marks.fail();
        throw error;
      },
    );
  };
}
