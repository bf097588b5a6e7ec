import type { Settings } from "../config/settings.ts";
import { ConfigurationError, SolidJobsError } from "../foundation/errors.ts";
import type { FromProbe } from "../worker/messages.ts";
import { Thread } from "./threads.ts";

export type LoadedTasks = Extract<FromProbe, { type: "loaded" }>["tasks"];

const timeoutMs = 60_000;

/**
 * Loads the task modules in a throw-away thread and tells what they hold.
 *
 * @throws ConfigurationError when they do not load within a minute
 * @throws SolidJobsError (`STOPPED`) when the signal is aborted first
 */
export async function loadedTasks(settings: Settings, signal: AbortSignal): Promise<LoadedTasks> {
  const thread = new Thread<never, FromProbe>("probe");
  const answer = Promise.withResolvers<FromProbe>();
  const fail = (message: string, code = "MODULE") => answer.resolve({ type: "failed", code, message });
  const interrupt = () => fail("the node was stopped before it had started", "STOPPED");
  thread.begin({ settings }, answer.resolve);
  void thread.ended.then(({ code, reason, neverListened }) => {
    const why =
      neverListened ?? reason ?? `the thread ended with code ${code} (does a module call process.exit?)`;
    fail(`the task modules do not load: ${why}`);
  });
  const timer = setTimeout(
    () => fail(`the task modules did not load within ${timeoutMs / 1000} s`),
    timeoutMs,
  );
  signal.addEventListener("abort", interrupt, { once: true });
  if (signal.aborted) interrupt();
  const found = await answer.promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", interrupt);
  const ended = thread.terminate(1000);
  if (found.type === "failed") await ended;
  if (found.type === "loaded") return found.tasks;
  if (found.code === "STOPPED") throw new SolidJobsError(found.code, found.message);
  throw new ConfigurationError(found.message, { code: found.code });
}
