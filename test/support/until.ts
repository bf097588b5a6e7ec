import { pause } from "../../src/foundation/time.ts";

/**
 * Resolves as soon as the condition holds.
 * @throws Error when it does not within `limitMs` (default 20 s), so that a test says what it waited for
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  { limitMs = 20_000, what = condition.toString() }: { limitMs?: number; what?: string } = {},
): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited ${limitMs} ms in vain for: ${what}`);
    await pause(5);
  }
}
