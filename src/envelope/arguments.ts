import { ArgumentsError } from "../foundation/errors.ts";

/**
 * Levels of nesting an envelope may have. Redis' own JSON parser, which members of the family use, gives
 * up at 1000; the rest is room for what wraps an envelope.
 */
const maxEnvelopeDepth = 900;
/** What is left below the envelope's object and its array of arguments. */
const maxArgumentDepth = maxEnvelopeDepth - 2;

/**
 * The JSON text of a job's arguments.
 *
 * Only what JSON carries unchanged is accepted: null, booleans, finite numbers, texts, plain arrays and
 * plain objects. As JSON does, a property that is undefined is omitted; trailing undefined arguments are
 * trimmed, so that optional parameters work. Keys such as `__proto__` are data like any other. A lone
 * surrogate is stored as its escape (`\ud800`) and arrives as it was.
 *
 * @param onComplex given, it is told what is wrong and the arguments are stored as JSON makes them;
 *   by default they are refused. A cycle, a bigint and too deep a nesting are always refused.
 * @throws ArgumentsError with the path of the offender, such as `arguments[0].items[3].when`
 */
export function argumentsJson(given: readonly unknown[], onComplex?: (problem: string) => void): string {
  const values = withoutTrailingUndefined(given);
  for (let i = 0; i < values.length; i++) {
    if (!isPlain(values[i], 1)) return complexJson(values, onComplex);
  }
  return JSON.stringify(values);
}

function withoutTrailingUndefined(given: readonly unknown[]): readonly unknown[] {
  let length = given.length;
  while (length > 0 && given[length - 1] === undefined) length--;
  return length === given.length ? given : given.slice(0, length);
}

/** The one pass of the usual case: no paths, no messages, no allocation but the lists of keys. */
function isPlain(value: unknown, depth: number): boolean {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || depth > maxArgumentDepth) return false;
  return Array.isArray(value) ? isPlainArray(value, depth) : isPlainObject(value, depth);
}

function isPlainArray(value: readonly unknown[], depth: number): boolean {
  if (Object.getPrototypeOf(value) !== Array.prototype) return false;
  for (let i = 0; i < value.length; i++) if (!isPlain(value[i], depth + 1)) return false;
  return true;
}

function isPlainObject(value: object, depth: number): boolean {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const key of Object.keys(value)) {
    const property = (value as Record<string, unknown>)[key];
    if (property !== undefined && !isPlain(property, depth + 1)) return false;
  }
  return true;
}

/** Only reached when something is wrong: finds it again, this time with its path. */
function complexJson(values: readonly unknown[], onComplex?: (problem: string) => void): string {
  const offence = firstOffence(values, () => true);
  if (offence === undefined) return JSON.stringify(values);
  if (onComplex === undefined) throw refusal(offence);
  const fatal = firstOffence(values, (kind) => kind.isFatal);
  if (fatal !== undefined) throw refusal(fatal);
  onComplex(`${offence.path}: ${offence.text}; stored as JSON makes it`);
  return carriedJson(values);
}

/** What JSON makes of it, once it is sure that it can be read again. */
function carriedJson(values: readonly unknown[]): string {
  let json: string;
  let carried: unknown[];
  try {
    json = JSON.stringify(values);
    carried = JSON.parse(json);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ArgumentsError(`arguments: JSON cannot carry them (${reason}); pass plain data`, "arguments");
  }
  const offence = firstOffence(carried, (kind) => kind.isFatal);
  if (offence !== undefined) throw refusal(offence);
  return json;
}

interface Offence {
  readonly path: string;
  readonly text: string;
  readonly isFatal: boolean;
}

function refusal(offence: Offence): ArgumentsError {
  return new ArgumentsError(`${offence.path}: ${offence.text}. The job was not published.`, offence.path);
}

function firstOffence(
  values: readonly unknown[],
  isWanted: (kind: { isFatal: boolean }) => boolean,
): Offence | undefined {
  const ancestors = new Set<object>();
  const search = (value: unknown, path: string, depth: number): Offence | undefined => {
    const text = offenceOf(value, ancestors, depth);
    if (text !== undefined) {
      const isFatal = typeof value === "bigint" || text === cycleText || text === depthText;
      return isWanted({ isFatal }) ? { path, text, isFatal } : undefined;
    }
    if (typeof value !== "object" || value === null) return undefined;
    ancestors.add(value);
    for (const [key, inner] of childrenOf(value)) {
      const found = search(inner, path + stepText(key), depth + 1);
      if (found !== undefined) return found;
    }
    ancestors.delete(value);
    return undefined;
  };
  for (const [index, value] of values.entries()) {
    const found = search(value, `arguments[${index}]`, 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function childrenOf(value: object): Iterable<[string | number, unknown]> {
  // entries() of an array also visits its holes, which JSON would fill with null
  if (Array.isArray(value)) return value.entries() as Iterable<[number, unknown]>;
  return Object.entries(value).filter(([, property]) => property !== undefined);
}

function stepText(key: string | number): string {
  if (typeof key === "number") return `[${key}]`;
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

const cycleText = "it contains itself, which JSON cannot carry; pass data without cycles";
const depthText = `nested deeper than ${maxArgumentDepth} levels; pass flatter data`;

function offenceOf(value: unknown, ancestors: ReadonlySet<object>, depth: number): string | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : `${value} is not in JSON; pass null or a text`;
    case "undefined":
      return "undefined is not in JSON; pass null";
    case "bigint":
      return "a bigint is not in JSON; pass value.toString()";
    case "symbol":
      return "a symbol is not in JSON; pass a text";
    case "function":
      return "a function cannot be stored; pass the data it needs, and call it in the task";
    default:
      return value === null ? undefined : objectOffence(value as object, ancestors, depth);
  }
}

function objectOffence(value: object, ancestors: ReadonlySet<object>, depth: number): string | undefined {
  if (ancestors.has(value)) return cycleText;
  if (depth > maxArgumentDepth) return depthText;
  if (value instanceof Date) return dateOffence(value);
  if (value instanceof Map) return "a Map is not in JSON; pass Object.fromEntries(map) or [...map]";
  if (value instanceof Set) return "a Set is not in JSON; pass [...set]";
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) {
    return "bytes are not in JSON; pass a text such as Buffer.from(bytes).toString('base64')";
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null || prototype === Array.prototype) {
    const isConverted = typeof (value as { toJSON?: unknown }).toJSON === "function";
    return isConverted ? "an object with toJSON arrives as something else; pass value.toJSON()" : undefined;
  }
  return `${className(prototype)} arrives as a plain object; pass plain data`;
}

function dateOffence(date: Date): string {
  if (Number.isNaN(date.getTime())) return "an invalid Date cannot be stored; pass a valid time as a text";
  return "a Date arrives as a text; pass date.toISOString()";
}

function className(prototype: { constructor?: { name?: unknown } }): string {
  const name = prototype.constructor?.name;
  return typeof name === "string" && name !== "" ? `an instance of ${name}` : "a class instance";
}
