import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { readChannel } from "./channel.ts";
import { nearest } from "./did-you-mean.ts";
import { invalid, type Place, type Reading, type Rule, shown, valid } from "./reading.ts";
import type { ChannelWeight } from "./settings.ts";

interface Range {
  readonly min: number;
  readonly max: number;
  /** Such as `seconds`; none for a plain count. */
  readonly unit?: string;
}

/** In text a list's entries stand between semicolons: commas belong to channels, colons to URLs. */
const listSeparator = ";";

export function integerRule(range: Range): Rule<number> {
  return numericRule(range, { noun: "a whole number", digits: /^[+-]?\d+$/, accepts: Number.isSafeInteger });
}

export function numberRule(range: Range): Rule<number> {
  return numericRule(range, { noun: "a number", digits: /^[+-]?\d+(\.\d+)?$/, accepts: Number.isFinite });
}

function numericRule(
  { min, max, unit }: Range,
  { noun, digits, accepts }: { noun: string; digits: RegExp; accepts: (value: number) => boolean },
): Rule<number> {
  const expected = `${noun} from ${min} to ${max}${unit === undefined ? "" : ` (${unit})`}`;
  const refusal = (value: unknown) => invalid(`expected ${expected}, got ${shown(value)}`);
  const read = (value: unknown): Reading<number> => {
    const isInRange = typeof value === "number" && accepts(value) && value >= min && value <= max;
    return isInRange ? valid(value) : refusal(value);
  };
  const fromText = (text: string): Reading<number> => {
    const reading = digits.test(text.trim()) ? read(Number(text.trim())) : refusal(text);
    return reading.isValid ? reading : refusal(text);
  };
  return { expected, read, fromText };
}

export function booleanRule(): Rule<boolean> {
  const expected = "true or false";
  const words = new Map([
    ["true", true],
    ["1", true],
    ["false", false],
    ["0", false],
  ]);
  const refusal = (value: unknown) => invalid(`expected ${expected}, got ${shown(value)}`);
  return {
    expected,
    read: (value) => (typeof value === "boolean" ? valid(value) : refusal(value)),
    fromText: (text) => {
      const value = words.get(text.trim().toLowerCase());
      return value === undefined ? refusal(text) : valid(value);
    },
  };
}

export function choiceRule<const C extends string>(choices: readonly C[]): Rule<C> {
  const expected = `one of ${choices.join(", ")}`;
  const read = (value: unknown): Reading<C> => {
    const choice = choices.find((each) => each === value);
    if (choice !== undefined) return valid(choice);
    const near = typeof value === "string" ? nearest(value, choices) : undefined;
    const hint = near === undefined ? "" : ` (did you mean "${near}"?)`;
    return invalid(`expected ${expected}, got ${shown(value)}${hint}`);
  };
  return { expected, read, fromText: (text) => read(text.trim()) };
}

/** One line of text that is not empty. */
export function textRule({ what, maxBytes }: { what: string; maxBytes: number }): Rule<string> {
  const expected = `${what} of at most ${maxBytes} bytes, not empty and without control characters`;
  const read = (value: unknown): Reading<string> =>
    typeof value === "string" &&
    value !== "" &&
    value.isWellFormed() &&
    !/\p{Cc}/u.test(value) &&
    Buffer.byteLength(value) <= maxBytes
      ? valid(value)
      : invalid(`expected ${expected}, got ${shown(value)}`);
  return { expected, read, fromText: read };
}

/** A list whose entries follow `rule`; one entry may stand without the list. */
export function listRule<T>(rule: Rule<T>, expected: string): Rule<readonly T[]> {
  const read = (value: unknown, place: Place): Reading<readonly T[]> => {
    const entries: readonly unknown[] = Array.isArray(value) ? value : [value];
    const list: T[] = [];
    for (const entry of entries) {
      const reading = rule.read(entry, place);
      if (!reading.isValid) return reading;
      list.push(reading.value);
    }
    return valid(Object.freeze(list));
  };
  const fromText = (text: string, place: Place) => {
    const entries = text.split(listSeparator).map((entry) => entry.trim());
    return read(
      entries.filter((entry) => entry !== ""),
      place,
    );
  };
  return { expected: `${expected} (in the environment separated by \`${listSeparator}\`)`, read, fromText };
}

/** Channels, none of them twice. */
export function channelsRule(): Rule<readonly ChannelWeight[]> {
  const each: Rule<ChannelWeight> = { expected: "a channel", read: readChannel, fromText: readChannel };
  const list = listRule(each, "channels as name or name,weight");
  const withoutDoubles = (reading: Reading<readonly ChannelWeight[]>): typeof reading => {
    if (!reading.isValid) return reading;
    const names = new Set<string>();
    for (const { name } of reading.value) {
      if (names.has(name)) return invalid(`the channel ${shown(name)} is given twice: once is enough`);
      names.add(name);
    }
    return reading;
  };
  return {
    expected: list.expected,
    read: (value, place) => withoutDoubles(list.read(value, place)),
    fromText: (text, place) => withoutDoubles(list.fromText(text, place)),
  };
}

/** A path or `file:` URL, made absolute. */
export function pathRule(expected: string): Rule<string> {
  const read = (value: unknown, place: Place): Reading<string> => {
    const text = value instanceof URL ? value.href : value;
    if (typeof text !== "string" || text === "" || text.includes("\0")) {
      return invalid(`expected ${expected}, got ${shown(value)}`);
    }
    if (!text.startsWith("file:")) return valid(resolve(place.folder, text));
    try {
      return valid(fileURLToPath(text));
    } catch (error) {
      return invalid(`expected ${expected}, got ${shown(text)}: ${(error as Error).message}`);
    }
  };
  return { expected, read, fromText: read };
}

/** PEM text as it is, anything else as a path. */
export function pemRule(): Rule<string | undefined> {
  const path = pathRule("PEM text or the path of a PEM file");
  const read = (value: unknown, place: Place) =>
    typeof value === "string" && value.includes("-----BEGIN ") ? valid(value) : path.read(value, place);
  return { expected: path.expected, read, fromText: read };
}
