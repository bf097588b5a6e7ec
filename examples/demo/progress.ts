const width = 30;

/** A progress bar on one line of a terminal; silent where there is none. */
export class Progress {
  private readonly total: number;
  private readonly start = performance.now();
  private readonly isShown = process.stderr.isTTY;

  constructor(total: number) {
    this.total = total;
  }

  show(done: number): void {
    if (!this.isShown) return;
    const filled = Math.round((done / this.total) * width);
    const bar = "█".repeat(filled) + "░".repeat(width - filled);
    const perSecond = Math.round(done / ((performance.now() - this.start) / 1000));
    process.stderr.write(`\r${bar} ${done}/${this.total} files, ${perSecond} jobs/s \x1b[K`);
  }

  clear(): void {
    if (this.isShown) process.stderr.write("\r\x1b[K");
  }
}
