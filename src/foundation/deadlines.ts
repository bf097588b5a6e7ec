interface Waiting {
  readonly endsAt: number;
  readonly expire: () => void;
}

/**
 * Deadlines for calls that nearly always end long before: one timer for all of them instead of one each,
 * set and cleared for every command. A call expires at its deadline or, when a later one was asked for
 * first, up to the resolution of timers after it; never before.
 */
export class Deadlines {
  private readonly waiting = new Set<Waiting>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private timerAt = Number.POSITIVE_INFINITY;

  /** Calls `expire` after `ms`, unless the function it returns is called before. */
  after(ms: number, expire: () => void): () => void {
    return this.at(performance.now() + ms, expire);
  }

  /** As `after`, with a time on the scale of `performance.now()`. */
  at(endsAt: number, expire: () => void): () => void {
    const call: Waiting = { endsAt, expire };
    this.waiting.add(call);
    this.lookAt(endsAt);
    return () => {
      this.waiting.delete(call);
    };
  }

  /** The timer stays set when its call has ended: most often the next call needs it. It keeps nothing alive. */
  private lookAt(at: number): void {
    if (this.timerAt <= at) return;
    clearTimeout(this.timer);
    this.timerAt = at;
    this.timer = setTimeout(() => this.look(), Math.max(0, Math.ceil(at - performance.now())));
    this.timer.unref();
  }

  private look(): void {
    this.timerAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const call of this.waiting) {
      if (call.endsAt > now) {
        next = Math.min(next, call.endsAt);
        continue;
      }
      this.waiting.delete(call);
      call.expire();
    }
    if (next < Number.POSITIVE_INFINITY) this.lookAt(next);
  }
}
