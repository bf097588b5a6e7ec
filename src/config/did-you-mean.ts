/**
 * The candidate a person most likely meant by `word`, or undefined when none is near: at most a third of
 * the longer word may differ. Case, `_`, `-` and leading dashes do not count, so that `logLevel` finds `log_level`.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = simplified(word);
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const known = simplified(candidate);
    const limit = Math.max(1, Math.floor(Math.max(wanted.length, known.length) / 3));
    if (Math.abs(wanted.length - known.length) > limit) continue;
    const distance = editDistance(wanted, known);
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { candidate, distance };
  }
  return best?.candidate;
}

/** ` (did you mean "slots"?)`, or the list of what is valid when nothing is near. To be put after a message. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const known = [...candidates];
  const candidate = nearest(word, known);
  return candidate === undefined ? ` (valid: ${known.join(", ")})` : ` (did you mean "${candidate}"?)`;
}

function simplified(word: string): string {
  return word.toLowerCase().replace(/[_-]/g, "");
}

/** Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      let cost = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (isSame ? 0 : 1));
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (isSwap) cost = Math.min(cost, beforeLast[column - 2]! + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length]!;
}
