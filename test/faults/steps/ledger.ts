import { appendFileSync, existsSync, readFileSync } from "node:fs";

/**
 * Facts by their name: under a job's id the places where it is stored, such as `ready` or `ready + other:ready`
 * (`gone`: nowhere; `claimed`: with a process that may die, so that recovery makes it `ready`); `#processed`,
 * `#failed` and `#paused` are what the store counts, and its paused channels.
 */
export type Facts = Readonly<Record<string, string>>;

export type Line =
  /** What a step is about to bring about. `isWhole`: all of it or nothing. */
  | { readonly kind: "intend"; readonly facts: Facts; readonly isWhole: boolean }
  | { readonly kind: "done" }
  | {
      readonly kind: "death";
      readonly level: string;
      readonly point: string;
      readonly when: "before" | "after";
    }
  /** It was not reached: `points` were passed. */
  | {
      readonly kind: "end";
      readonly points: Readonly<Record<string, number>>;
      readonly calls: readonly string[];
    };

/** A file that outlives the process that writes it: a line is there as soon as `write` returns. */
export class Ledger {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  write(line: Line): void {
    appendFileSync(this.path, `${JSON.stringify(line)}\n`);
  }

  /** Notes what a step is to bring about, takes it, and notes that it has returned. */
  async will<T>(facts: Facts, step: () => Promise<T>, { isWhole = true } = {}): Promise<T> {
    this.write({ kind: "intend", facts, isWhole });
    const result = await step();
    this.write({ kind: "done" });
    return result;
  }

  lines(): Line[] {
    if (!existsSync(this.path)) return [];
    const lines = readFileSync(this.path, "utf8").split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line) as Line);
  }
}

/** What must be so once everything has been recovered, as far as the ledger tells. */
export interface Expectation {
  /** Before the step that was cut off. */
  readonly old: Facts;
  /** After it; the same as `old` where none was. */
  readonly new: Facts;
  /** Each fact by itself is old or new; otherwise all of them are. */
  readonly mayBeMixed: boolean;
}

/**
 * A step that was cut off by a death before its call has not begun, after it, it is complete. Where single
 * commands were cut off, both are right.
 */
export function expectationOf(lines: readonly Line[]): Expectation {
  let facts: Facts = { "#processed": "0", "#failed": "0", "#paused": "" };
  let begun: Extract<Line, { kind: "intend" }> | undefined;
  for (const line of lines) {
    if (line.kind === "intend") begun = line;
    if (line.kind === "done" && begun !== undefined) {
      facts = { ...facts, ...begun.facts };
      begun = undefined;
    }
  }
  if (begun === undefined) return { old: facts, new: facts, mayBeMixed: false };
  const after = { ...facts, ...begun.facts };
  const death = lines.find((line) => line.kind === "death");
  if (!begun.isWhole) return { old: facts, new: after, mayBeMixed: true };
  if (death?.level !== "calls") return { old: facts, new: after, mayBeMixed: false };
  const certain = death.when === "before" ? facts : after;
  return { old: certain, new: certain, mayBeMixed: false };
}

/** What is not as expected, in words; empty when all is well. */
export function differences(expected: Expectation, found: Facts): string[] {
  const names = new Set([...Object.keys(expected.new), ...Object.keys(found)]);
  const against = (facts: Facts) =>
    [...names].flatMap((name) => differenceOf(name, [recovered(facts[name])], found[name] ?? "gone"));
  if (!expected.mayBeMixed) {
    const [fromOld, fromNew] = [against(expected.old), against(expected.new)];
    return fromOld.length < fromNew.length ? fromOld : fromNew;
  }
  return [...names].flatMap((name) => {
    const allowed = [recovered(expected.old[name]), recovered(expected.new[name])];
    if (isCountBetween(allowed, found[name])) return [];
    return differenceOf(name, allowed, found[name] ?? "gone");
  });
}

/** What several calls count grows with each of them. */
function isCountBetween(allowed: readonly string[], found = ""): boolean {
  const [low, high] = allowed.map(Number);
  return /^\d+$/.test(found) && low! <= Number(found) && Number(found) <= high!;
}

function differenceOf(name: string, allowed: readonly string[], found: string): string[] {
  if (allowed.includes(found)) return [];
  return [`${name}: expected ${[...new Set(allowed)].join(" or ")}, found ${found}`];
}

function recovered(place = "gone"): string {
  return place === "claimed" ? "ready" : place;
}
