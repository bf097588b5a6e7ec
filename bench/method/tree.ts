import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What a process and its descendants use. */
export interface TreeSample {
  /** Since their start; that of descendants which have been waited for is included. */
  readonly cpuSeconds: number;
  /** Pages shared between processes count once for each. */
  readonly rssMiB: number;
  /** Pages shared between processes count in shares. */
  readonly pssMiB: number;
  readonly processes: number;
}

/** What `/proc/<pid>/stat` says. */
export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  /** utime, stime, cutime and cstime (proc(5)). */
  readonly cpuTicks: number;
}

/** @throws Error for a text that is not of that form */
export function parseStat(text: string): ProcessStat {
  // The name in brackets may hold blanks and brackets.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [pid, parent] = [Number.parseInt(text, 10), Number(fields[1])];
  const cpuTicks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  if (Number.isNaN(pid + parent + cpuTicks) || fields.length < 15) {
    throw new Error(`expected the text of /proc/<pid>/stat, got "${text.slice(0, 80)}"`);
  }
  return { pid, parent, cpuTicks };
}

/** The process and all below it, as far as they are among the given ones. */
export function treeOf(root: number, all: readonly ProcessStat[]): ProcessStat[] {
  const children = Map.groupBy(all, ({ parent }) => parent);
  const tree = all.filter(({ pid }) => pid === root);
  for (const member of tree) tree.push(...(children.get(member.pid) ?? []));
  return tree;
}

/** Rss and Pss of `/proc/<pid>/smaps_rollup`, in MiB; 0 for what is not there. */
export function parseRollup(text: string): { rssMiB: number; pssMiB: number } {
  const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1] ?? 0);
  return { rssMiB: kib("Rss") / 1024, pssMiB: kib("Pss") / 1024 };
}

/** Reads a process tree from `/proc`. Needs Linux. */
export class ProcessTree {
  private readonly root: number;
  private readonly proc: string;
  private cpuSeconds = 0;

  constructor(root: number, proc = "/proc") {
    this.root = root;
    this.proc = proc;
  }

  /** Zeros in memory when the process has ended. */
  sample(): TreeSample {
    const tree = treeOf(this.root, this.all());
    const memory = tree.map(({ pid }) => parseRollup(this.read(pid, "smaps_rollup")));
    const ticks = tree.reduce((sum, { cpuTicks }) => sum + cpuTicks, 0);
    // Of a descendant that was not waited for, what it had used until the last sample stays counted.
    this.cpuSeconds = Math.max(this.cpuSeconds, ticks / ticksPerSecond);
    return {
      cpuSeconds: this.cpuSeconds,
      rssMiB: memory.reduce((sum, { rssMiB }) => sum + rssMiB, 0),
      pssMiB: memory.reduce((sum, { pssMiB }) => sum + pssMiB, 0),
      processes: tree.length,
    };
  }

  /**
   * Seconds on a processor of each present thread, by the kernel's scheduler: finer than the ticks of `sample`,
   * for what uses next to nothing.
   */
  threadSeconds(): Map<string, number> {
    const seconds = new Map<string, number>();
    for (const { pid } of treeOf(this.root, this.all())) {
      for (const thread of this.names(join(String(pid), "task"))) {
        const nanoseconds = Number(this.read(pid, join("task", thread, "schedstat")).split(" ")[0]);
        seconds.set(thread, nanoseconds / 1e9);
      }
    }
    return seconds;
  }

  private all(): ProcessStat[] {
    return this.names(".")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => this.read(Number(name), "stat"))
      .filter((text) => text !== "")
      .map(parseStat);
  }

  /** Empty when the process has gone meanwhile. */
  private read(pid: number, file: string): string {
    try {
      return readFileSync(join(this.proc, String(pid), file), "utf8");
    } catch (error) {
      if (hasGone(error)) return "";
      throw error;
    }
  }

  private names(folder: string): string[] {
    try {
      return readdirSync(join(this.proc, folder));
    } catch (error) {
      if (hasGone(error)) return [];
      throw error;
    }
  }
}

function hasGone(error: unknown): boolean {
  return ["ENOENT", "ESRCH"].includes((error as { code?: string }).code ?? "");
}

/** Of the clock in which the kernel tells CPU time: 100 on every Linux that Bun runs on. */
const ticksPerSecond = Number(Bun.spawnSync(["getconf", "CLK_TCK"]).stdout.toString()) || 100;
