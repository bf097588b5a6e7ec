import { adoptSettings } from "../config/process.ts";
import type { Settings } from "../config/settings.ts";
import { SolidJobsError, toError } from "../foundation/errors.ts";
import { loadTasks } from "../task/loader.ts";
import { registeredTasks } from "../task/registry.ts";
import type { FromProbe } from "../worker/messages.ts";

export interface ProbeInit {
  readonly settings: Settings;
}

/**
 * Loads the task modules in a throw-away thread, so that a fault in one is told before anything starts. Tells
 * of all tasks that the thread knows: also of those that its main file gave to `run`.
 */
export async function probe({ settings }: ProbeInit, say: (message: FromProbe) => void): Promise<void> {
  try {
    adoptSettings(settings);
    await loadTasks(settings.require);
    const tasks = registeredTasks();
    say({ type: "loaded", tasks: tasks.map(({ name, options }) => ({ name, channel: options.channel })) });
  } catch (thrown) {
    const error = toError(thrown);
    say({
      type: "failed",
      code: error instanceof SolidJobsError ? error.code : "MODULE",
      message: error.message,
    });
  }
}
