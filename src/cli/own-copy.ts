import { tasksComeFromOutside } from "../task/bundled.ts";

/**
 * Gives modules that this thread loads from files this very copy of the library, whether one is installed
 * beside them or not. For the compiled command: it holds the library, but no tasks.
 */
export async function giveOwnCopy(): Promise<void> {
  const [library, lab] = await Promise.all([import("../index.ts"), import("../lab/index.ts")]);
  Bun.plugin({
    name: "solid-jobs",
    setup(build) {
      build.module("solid-jobs", () => ({ exports: { ...library }, loader: "object" }));
      build.module("solid-jobs/lab", () => ({ exports: { ...lab }, loader: "object" }));
    },
  });
  tasksComeFromOutside();
}
