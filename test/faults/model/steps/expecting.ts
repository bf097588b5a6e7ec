/** @throws Error when the store's answer is not what the model says */
export function same<T extends string | number | boolean | undefined>(
  what: string,
  wanted: T,
  found: T,
): void {
  if (wanted !== found) throw new Error(`${what}: expected ${wanted}, the store says ${found}`);
}

/** The same in any order. */
export function sameAll(what: string, wanted: readonly string[], found: readonly string[]): void {
  same(what, wanted.toSorted().join(", "), found.toSorted().join(", "));
}

/** @throws Error with the words when it does not hold */
export function holds(condition: boolean, words: string): asserts condition {
  if (!condition) throw new Error(words);
}
