import { InvalidArgumentError } from "commander";
import type { Options } from "../method/options.ts";

/** What commander makes of the command line. */
export interface Flags {
  readonly full: boolean;
  readonly repetitions?: number;
  readonly scale: number;
  readonly systems?: readonly string[];
  readonly minutes?: number;
  readonly save: boolean;
}

export function optionsOf({ full, repetitions, scale, systems, minutes, save }: Flags): Options {
  return { isFull: full, repetitions, scale, systems, minutes, isSaved: save };
}

/** @throws InvalidArgumentError unless it is a number above 0 */
export function positive(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value > 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError(`expected a number above 0, got "${text}".`);
}

/** @throws InvalidArgumentError unless it is a whole number above 0 */
export function positiveWhole(text: string): number {
  const value = positive(text);
  if (Number.isInteger(value)) return value;
  throw new InvalidArgumentError(`expected a whole number above 0, got "${text}".`);
}

/** Names with commas between them. @throws InvalidArgumentError for one that is not among those known */
export function namesAmong(known: readonly string[]): (text: string) => string[] {
  return (text) => {
    const names = text.split(",").map((name) => name.trim());
    const unknown = names.find((name) => !known.includes(name));
    if (unknown === undefined) return names;
    throw new InvalidArgumentError(`expected some of ${known.join(", ")}, got "${unknown}".`);
  };
}
