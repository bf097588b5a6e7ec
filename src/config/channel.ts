import { invalid, type Reading, shown, valid } from "./reading.ts";
import type { ChannelWeight } from "./settings.ts";

/** Bytes of UTF-8 a channel's name may take. */
export const maxChannelNameBytes = 255;

/** Turns a channel may get for each turn of a channel of weight 1. */
export const maxChannelWeight = 1000;

export const expectedChannel = `a channel as name or name,weight (weight: a whole number from 1 to ${maxChannelWeight})`;

/**
 * Why `name` cannot name a channel, or undefined when it can. Any text can, with `:`, `{}`, spaces and
 * unicode, but not an empty one, one with control characters or one over 255 bytes.
 */
export function channelNameProblem(name: unknown): string | undefined {
  if (typeof name !== "string") return `a channel's name must be text, got ${shown(name)}`;
  if (name === "") return "a channel's name must not be empty";
  if (/\p{Cc}/u.test(name)) return `a channel's name must not hold control characters, got ${shown(name)}`;
  if (!name.isWellFormed()) return `a channel's name must be valid unicode, got ${shown(name)}`;
  const bytes = Buffer.byteLength(name);
  if (bytes > maxChannelNameBytes) {
    return `a channel's name may take ${maxChannelNameBytes} bytes, got ${bytes} bytes: ${shown(name)}`;
  }
  return undefined;
}

/** Reads `name` or `name,weight`; what follows the last comma is the weight, so a name with commas needs one. */
export function parseChannel(text: string): Reading<ChannelWeight> {
  const comma = text.lastIndexOf(",");
  if (comma === -1) return channelOf(text, 1);
  const weight = text.slice(comma + 1).trim();
  if (!/^[+-]?\d+(\.\d+)?$/.test(weight)) {
    return invalid(`the weight of ${shown(text)} must be a whole number, got ${shown(weight)}`);
  }
  return channelOf(text.slice(0, comma), Number(weight));
}

/** Reads a channel from code or a file: `"name"`, `"name,weight"` or `{ name, weight }` (weight 1 by default). */
export function readChannel(value: unknown): Reading<ChannelWeight> {
  if (typeof value === "string") return parseChannel(value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return invalid(`expected ${expectedChannel} or { name, weight }, got ${shown(value)}`);
  }
  const stranger = Object.keys(value).find((key) => key !== "name" && key !== "weight");
  if (stranger !== undefined) return invalid(`a channel has name and weight, got the key ${shown(stranger)}`);
  const { name, weight = 1 } = value as { name?: unknown; weight?: unknown };
  return channelOf(name, weight);
}

function channelOf(name: unknown, weight: unknown): Reading<ChannelWeight> {
  const problem = channelNameProblem(name);
  if (problem !== undefined) return invalid(problem);
  if (!Number.isInteger(weight) || (weight as number) < 1 || (weight as number) > maxChannelWeight) {
    const expected = `a whole number from 1 to ${maxChannelWeight}`;
    return invalid(`the weight of channel ${shown(name)} must be ${expected}, got ${shown(weight)}`);
  }
  return valid(Object.freeze({ name: name as string, weight: weight as number }));
}
