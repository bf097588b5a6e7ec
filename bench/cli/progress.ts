import type { MultiBar, SingleBar } from "cli-progress";

/** Shows how far a benchmark is, and the lines that it prints meanwhile. */
export interface Progress {
  /** A part begins: its runs come on top of those expected so far. */
  begin(name: string): void;
  expect(runs: number): void;
  tick(): void;
  line(text: string): void;
  end(): void;
}

/** A bar at the foot of a terminal; elsewhere lines only. */
export async function openProgress(isTerminal: boolean): Promise<Progress> {
  return isTerminal ? new BarProgress(await newBar()) : new LineProgress();
}

async function newBar(): Promise<MultiBar> {
  const { MultiBar, Presets } = await import("cli-progress");
  const format = "{name} [{bar}] {value}/{total} runs, {duration_formatted}";
  return new MultiBar({ format, hideCursor: true, clearOnComplete: true }, Presets.shades_classic);
}

class LineProgress implements Progress {
  begin(): void {}
  expect(): void {}
  tick(): void {}
  end(): void {}

  line(text: string): void {
    console.log(text);
  }
}

class BarProgress implements Progress {
  private readonly bars: MultiBar;
  private readonly bar: SingleBar;
  private total = 0;

  constructor(bars: MultiBar) {
    this.bars = bars;
    this.bar = bars.create(0, 0, { name: "" });
  }

  begin(name: string): void {
    this.bar.update({ name });
  }

  expect(runs: number): void {
    this.total += runs;
    this.bar.setTotal(this.total);
  }

  tick(): void {
    this.bar.increment();
  }

  line(text: string): void {
    this.bars.log(`${text}\n`);
  }

  end(): void {
    // Writes the lines that wait for the next drawing.
    this.bars.remove(this.bar);
    this.bars.stop();
  }
}
