/**
 * All processes that a benchmark starts lead a group of their own, so that what they start ends with them, and
 * all groups end with the benchmark.
 */
const groups = new Set<number>();

/** What every measured process and client finds: nothing of the user's own settings. */
export function cleanEnvironment(): Record<string, string> {
  const kept = ["PATH", "HOME", "LANG", "TMPDIR"].map((name) => [name, process.env[name]] as const);
  const given = kept.filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { ...Object.fromEntries(given), NODE_ENV: "production" };
}

export function noteGroup(pid: number): void {
  groups.add(pid);
}

/** At once, with all that it started. */
export function killGroup(pid: number): void {
  groups.delete(pid);
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as { code?: string }).code !== "ESRCH") throw error;
  }
}

process.on("exit", () => {
  for (const pid of groups) killGroup(pid);
});
