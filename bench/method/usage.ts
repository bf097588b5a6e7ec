import type { ProcessTree, TreeSample } from "./tree.ts";

const leastPauseMs = 100;
/** Looking takes at most about this part of a processor. */
const mostShare = 0.05;

/** Watches a process tree: its memory at the start, at its greatest and in the end. */
export class Usage {
  readonly samples: TreeSample[] = [];
  private readonly tree: ProcessTree;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(tree: ProcessTree) {
    this.tree = tree;
  }

  /** Looks now, and again and again until `stop`. */
  start(): TreeSample {
    const sample = this.look();
    this.later();
    return sample;
  }

  /** Looks for the last time. */
  stop(): TreeSample {
    clearTimeout(this.timer);
    return this.look();
  }

  get peakRssMiB(): number {
    return Math.max(...this.samples.map(({ rssMiB }) => rssMiB));
  }

  get peakPssMiB(): number {
    return Math.max(...this.samples.map(({ pssMiB }) => pssMiB));
  }

  private tookMs = 0;

  private look(): TreeSample {
    const startMs = performance.now();
    const sample = this.tree.sample();
    this.samples.push(sample);
    this.tookMs = performance.now() - startMs;
    return sample;
  }

  private later(): void {
    this.timer = setTimeout(
      () => {
        this.look();
        this.later();
      },
      Math.max(leastPauseMs, this.tookMs / mostShare),
    );
  }
}
