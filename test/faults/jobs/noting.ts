import { openSync } from "node:fs";
import { threadId } from "node:worker_threads";
import { Task } from "../../../src/index.ts";
import type { Execution } from "../../../src/worker/execution.ts";
import { writeLine } from "./write-line.ts";

/** What a job of the harness is told: its name, how long it works, and whatever its kind needs. */
export interface Work {
  readonly key: string;
  readonly ms: number;
  /** Throws on so many of its first attempts. */
  readonly failures?: number;
}

/** Writes the beginning and the end of each execution into the ledger, under the token of its claim. */
export abstract class Noting extends Task {
  /** Ends in one piece where its work does: the runtime has a way of its own for such tasks. */
  executeTask(work: Work): void | Promise<void> {
    const run = { id: this.taskId, key: work.key, attempt: this.attempt, ...this.place };
    const end = (isDone: boolean) => writeLine({ what: "end", ...run, at: Date.now(), isDone });
    writeLine({ what: "begin", ...run, at: Date.now() });
    const working = this.work(work);
    if (working === undefined) return end(true);
    return working.then(
      () => end(true),
      (error) => {
        end(false);
        throw error;
      },
    );
  }

  protected abstract work(work: Work): void | Promise<void>;

  /** Notes what it is about to do. False when this job did it before: it does it once. */
  protected mayMisbehave(kind: string): boolean {
    try {
      openSync(`${process.env["FAULTS_LEDGER"]}/${this.taskId}.mark`, "wx");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    }
    writeLine({ what: "mischief", kind, id: this.taskId, ...this.place, at: Date.now() });
    return true;
  }

  private get place() {
    return { token: tokenOf(this), node: String(process.env["FAULTS_NODE"]), thread: threadId };
  }
}

/** The claim's token, which the runtime does not show to tasks. */
function tokenOf(task: Task): string {
  for (const symbol of Object.getOwnPropertySymbols(task)) {
    const held = (task as unknown as Record<symbol, unknown>)[symbol] as Partial<Execution> | undefined;
    if (held?.reservation !== undefined) return held.reservation.token;
  }
  throw new Error("a task of the fault harness found no claim token: where does an execution keep it now?");
}
