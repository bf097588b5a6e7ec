import { readdirSync, readFileSync } from "node:fs";

/** What is looked at every ten seconds. */
export interface Sample {
  /** Since the soak began. */
  readonly seconds: number;
  /** Done in each second since the sample before. */
  readonly jobsPerSecond: number;
  /** Of the node and all its children. */
  readonly rssMiB: number;
  /** Of Redis; undefined on the embedded engine. */
  readonly redisMiB: number | undefined;
  readonly queued: number;
}

export interface SoakSummary {
  readonly samples: number;
  readonly jobsPerSecond: { readonly median: number; readonly least: number };
  readonly rssMiB: { readonly median: number; readonly most: number };
  /** How fast it grows, by least squares over the samples after the warm-up. */
  readonly rssSlopeMiBPerHour: number;
  readonly redisMiB: { readonly median: number; readonly most: number } | undefined;
  readonly queued: { readonly median: number; readonly least: number; readonly most: number };
}

/** @param warmUpSeconds samples of this time are left out */
export function summaryOf(all: readonly Sample[], warmUpSeconds: number): SoakSummary {
  const samples = all.filter(({ seconds }) => seconds > warmUpSeconds);
  const rates = sorted(samples.map(({ jobsPerSecond }) => jobsPerSecond));
  const rss = sorted(samples.map(({ rssMiB }) => rssMiB));
  const redis = sorted(samples.flatMap(({ redisMiB }) => (redisMiB === undefined ? [] : [redisMiB])));
  const queued = sorted(samples.map((sample) => sample.queued));
  return {
    samples: samples.length,
    jobsPerSecond: { median: median(rates), least: rates[0] ?? 0 },
    rssMiB: { median: median(rss), most: rss.at(-1) ?? 0 },
    rssSlopeMiBPerHour: slope(samples.map(({ seconds, rssMiB }) => [seconds / 3600, rssMiB])),
    redisMiB: redis.length === 0 ? undefined : { median: median(redis), most: redis.at(-1) ?? 0 },
    queued: { median: median(queued), least: queued[0] ?? 0, most: queued.at(-1) ?? 0 },
  };
}

/** Resident memory of a process and everything below it, in MiB. Linux. */
export function treeRssMiB(root: number): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    const parent = parentOf(name);
    if (parent !== undefined) parents.set(Number(name), parent);
  }
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && pid !== 0 && (pid === root || isBelow(parents.get(pid)));
  return [...parents.keys()].filter(isBelow).reduce((sum, pid) => sum + rssMiB(pid), 0);
}

function parentOf(name: string): number | undefined {
  if (!/^\d+$/.test(name)) return undefined;
  const stat = read(`/proc/${name}/stat`);
  return stat === "" ? undefined : Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

function rssMiB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1024;
}

/** Empty for a process that has gone meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function sorted(numbers: readonly number[]): number[] {
  return numbers.toSorted((a, b) => a - b);
}

function median(ascending: readonly number[]): number {
  return ascending[Math.floor((ascending.length - 1) / 2)] ?? 0;
}

function slope(points: readonly (readonly [number, number])[]): number {
  const mean = (of: (point: readonly [number, number]) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean(([each]) => each), mean(([, each]) => each)];
  const spread = points.reduce((sum, [each]) => sum + (each - x) ** 2, 0);
  return spread === 0 ? 0 : points.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0) / spread;
}
