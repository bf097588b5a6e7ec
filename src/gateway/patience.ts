import type { Command } from "./request.ts";

/** Milliseconds that Redis gets for an answer, beside the time it was asked to wait. */
const answerMs = 10_000;

/** The longest time a timer can hold: about 24 days. */
const longestMs = 2 ** 31 - 1;

/**
 * How long the reply of each of `commands`, sent together, may take: what Redis was asked to wait by it and by
 * those before it, which it answers first, plus 10 s. One that waits without end gets the longest time there is.
 */
export function deadlinesMs(commands: readonly Command[]): number[] {
  let waitMs = 0;
  return commands.map((command) => {
    waitMs += blockingMs(command);
    return Math.min(waitMs + answerMs, longestMs);
  });
}

/** How long a command asks Redis to wait: 0 for one that does not block, Infinity for one without end. */
export function blockingMs({ name, args }: Command): number {
  if (/^(?:BLPOP|BRPOP|BRPOPLPUSH|BLMOVE|BZPOPMIN|BZPOPMAX)$/.test(name)) return waiting(args.at(-1), 1000);
  if (/^(?:BLMPOP|BZMPOP)$/.test(name)) return waiting(args[0], 1000);
  if (/^(?:WAIT|WAITAOF)$/.test(name)) return waiting(args.at(-1), 1);
  if (/^(?:XREAD|XREADGROUP)$/.test(name)) {
    const block = args.findIndex((arg) => arg.toUpperCase() === "BLOCK");
    return block === -1 ? 0 : waiting(args[block + 1], 1);
  }
  return 0;
}

/** A text that is no number is left to Redis, which refuses it at once. */
function waiting(text: string | undefined, unitMs: number): number {
  const ms = Number(text) * unitMs;
  if (!(ms >= 0)) return 0;
  return ms === 0 ? Number.POSITIVE_INFINITY : ms;
}
