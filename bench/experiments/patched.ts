import cycleText from "../../lua/cycle.lua" with { type: "text" };

/** A text and what stands in its place. */
export type Patch = readonly [from: string, to: string];

/**
 * The present script with some of its text replaced, so that a way of doing it differently stays beside it.
 *
 * @throws Error when a text is not there exactly once: the script has changed and the experiment must follow
 */
export function patchedCycle(...patches: readonly Patch[]): string {
  return patches.reduce((text, [from, to]) => {
    const parts = text.split(from);
    if (parts.length !== 2) {
      throw new Error(`expected this once in lua/cycle.lua, it is there ${parts.length - 1} times: ${from}`);
    }
    return parts.join(to);
  }, cycleText);
}

export { cycleText };
