import type { MoveProgress, MoveReport } from "../catalog/move.ts";
import { lineWriter } from "../instrumentation/line-writer.ts";

/** Terminals are written to this often at most. */
const intervalMs = 50;
const barWidth = 30;

/** One line of a terminal that shows how far a move is; nothing where there is no terminal. */
export class ProgressLine {
  private readonly isShown: boolean;
  private readonly write: (text: string) => void;
  private shownAt = Number.NEGATIVE_INFINITY;

  constructor(isShown: boolean, write: (text: string) => void = lineWriter(2)) {
    this.isShown = isShown;
    this.write = write;
  }

  show({ step, done, total }: MoveProgress): void {
    const now = performance.now();
    if (!this.isShown || (done < total && now - this.shownAt < intervalMs)) return;
    this.shownAt = now;
    const filled = total === 0 ? barWidth : Math.round((done / total) * barWidth);
    const bar = "█".repeat(filled) + "░".repeat(barWidth - filled);
    this.write(`\r${step.padEnd(8)} ${bar} ${count(done)} of ${count(total)} jobs\x1b[K`);
  }

  clear(): void {
    if (this.shownAt === Number.NEGATIVE_INFINITY) return;
    this.shownAt = Number.NEGATIVE_INFINITY;
    this.write("\r\x1b[K");
  }
}

/** What a terminal shows at the end of a move. */
export function moveSummary(report: MoveReport, isDeleting: boolean): string {
  const { from, to, counts, channels, paused, added, removed, isResumed } = report;
  const total = Object.values(counts).reduce((sum, each) => sum + each, 0);
  const lines = [
    `${count(total)} jobs of ${from} are in ${to}`,
    `  ready      ${count(counts.ready)} in ${count(channels)} channels, ${count(paused)} of them paused`,
    `  planned    ${count(counts.planned)}`,
    `  retrying   ${count(counts.retrying)}`,
    `  discarded  ${count(counts.discarded)}`,
    isResumed ? `  an earlier run was gone on with: ${count(added)} were missing` : undefined,
    isDeleting
      ? `  ${count(removed)} jobs were taken away from ${from}`
      : `  ${from} is left as it is: run nodes on one of the two only`,
  ];
  return `${lines.filter((line) => line !== undefined).join("\n")}\n`;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}
