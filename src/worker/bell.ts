/** Something that has been rung stays rung until somebody waits for it. */
export class Bell {
  private hasRung = false;
  private waiting: (() => void) | undefined;

  ring(): void {
    this.hasRung = true;
    this.waiting?.();
  }

  /** Resolves at once when it has rung since the last time, else at the next ring or after `timeoutMs`. */
  rung(timeoutMs: number): Promise<void> {
    if (this.hasRung) {
      this.hasRung = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.waiting?.(), timeoutMs);
      this.waiting = () => {
        clearTimeout(timer);
        this.waiting = undefined;
        this.hasRung = false;
        resolve();
      };
    });
  }
}
