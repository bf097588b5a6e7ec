import { joinTurns } from "../store/sqlite/turns.ts";
import type { ToWorker, WorkerInit } from "../worker/messages.ts";
import type { ProbeInit } from "./probe-program.ts";
import type { PulseInit, ToPulse } from "./pulse/messages.ts";
import type { ThreadRole, ThreadRoleMessage } from "./threads.ts";

declare const self: Worker;

type Obey = (message: unknown) => void;

/**
 * Makes this thread one of a node's: says that it listens, waits for its role, runs that program and ends.
 * The tasks that it is to know beside those of the settings' modules must be registered by then.
 */
export function takeRole(): Promise<never> {
  let program: Promise<Begin> | undefined;
  let obey: Obey | undefined;

  self.onmessage = async ({ data }: MessageEvent) => {
    if (obey !== undefined) return obey(data);
    if (program === undefined) {
      const { role, turns } = data as ThreadRoleMessage;
      joinTurns(turns);
      program = programOf(role);
      return;
    }
    const say = (message: unknown) => self.postMessage(message);
    const early: unknown[] = [];
    obey = (message) => early.push(message);
    const begin = await program;
    const begun = begin(data, say);
    obey = begun.obey;
    for (const message of early) begun.obey(message);
    try {
      await begun.finished;
    } catch (thrown) {
      say({ type: "broken", message: Bun.inspect(thrown) });
      await Bun.sleep(0); // let the message go
      process.exit(1);
    }
    process.exit(0);
  };

  self.postMessage("hello");
  return new Promise(() => {}); // ends with the thread
}

interface Begun {
  readonly obey: Obey;
  readonly finished: Promise<void>;
}

type Begin = (init: unknown, say: (message: unknown) => void) => Begun;

async function programOf(role: ThreadRole): Promise<Begin> {
  if (role === "worker") {
    const { WorkerProgram } = await import("../worker/worker-program.ts");
    return (init, say) => {
      const program = new WorkerProgram(init as WorkerInit, say);
      return { obey: (message) => program.obey(message as ToWorker), finished: program.run() };
    };
  }
  if (role === "pulse") {
    const { PulseProgram } = await import("./pulse/pulse-program.ts");
    return (init, say) => {
      const program = new PulseProgram(init as PulseInit, say);
      return { obey: (message) => program.obey(message as ToPulse), finished: program.run() };
    };
  }
  const { probe } = await import("./probe-program.ts");
  return (init, say) => ({ obey: () => {}, finished: probe(init as ProbeInit, say) });
}
