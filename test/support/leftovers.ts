import { readdirSync, readFileSync } from "node:fs";

export interface Leftover {
  readonly pid: number;
  readonly command: string;
}

/**
 * Processes that still live after a run: those whose environment names the run's temporary folder, which
 * every child inherits as TMPDIR. Empty where the system has no /proc.
 */
export function processesOf(folder: string): Leftover[] {
  return processIds()
    .filter((pid) => pid !== process.pid && read(`/proc/${pid}/environ`).includes(`TMPDIR=${folder}\0`))
    .map((pid) => ({ pid, command: read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim() }))
    .filter(({ command }) => command !== "");
}

function processIds(): number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** Empty for a process that has gone meanwhile or belongs to somebody else. */
function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
