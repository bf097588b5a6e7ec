import { join } from "node:path";

const program = join(import.meta.dir, "..", "store-bounds.ts");

/** How long Redis was held by one call in the worst case of its kind that the protocol allows. */
export interface Bound {
  readonly what: string;
  /** Of several rounds, each on an otherwise idle Redis. */
  readonly worstMs: number;
  readonly medianMs: number;
}

/**
 * Provokes the longest calls, one kind after the other, alone on a Redis of their own.
 *
 * @throws Error when the program fails or says something else than its table
 */
export async function bounds(): Promise<Bound[]> {
  const child = Bun.spawn([process.execPath, program], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const [text, status] = await Promise.all([child.stdout.text(), child.exited]);
  if (status !== 0) throw new Error(`store-bounds.ts ended with status ${status}`);
  const rows = text
    .split("\n")
    .map((line) => line.split("\t"))
    .filter(([worst = ""]) => /^[\d.]+$/.test(worst));
  if (rows.length === 0) throw new Error(`store-bounds.ts was expected to print a table, and said: ${text}`);
  return rows.map(([worst, median, what = ""]) => ({
    what,
    worstMs: Number(worst),
    medianMs: Number(median),
  }));
}
