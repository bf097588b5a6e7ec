export interface BackoffSettings {
  /** Seconds before the first retry, at most. */
  readonly retryBase: number;
  /** Seconds before any retry, at most. */
  readonly retryCap: number;
}

/**
 * Seconds to wait after the `failureCount`-th failure: capped exponential with equal jitter. The ceiling
 * is `min(base * 2^(n-1), cap)`, the delay uniform in its upper half (protocol, section 5).
 */
export function backoffSeconds(
  failureCount: number,
  { retryBase, retryCap }: BackoffSettings,
  random: () => number = Math.random,
): number {
  const ceiling = Math.min(retryBase * 2 ** Math.max(0, failureCount - 1), retryCap);
  return ceiling / 2 + (random() * ceiling) / 2;
}
