const maxDepth = 6;
const maxEntries = 100;
/** A message that holds a whole response body must not fill the disk, once for each attempt. */
const maxCharacters = 16_384;

/**
 * `value` as something that JSON can always carry. Errors keep name, message, code, stack and cause; what
 * has no JSON form becomes a text in brackets; long texts and lists are cut. Never throws, whatever getters and proxies do.
 */
export function plainValue(value: unknown): unknown {
  return plain(value, []);
}

function plain(value: unknown, ancestors: readonly object[]): unknown {
  try {
    return plainUnguarded(value, ancestors);
  } catch (error) {
    return `[cannot be shown: ${messageOf(error)}]`;
  }
}

function plainUnguarded(value: unknown, ancestors: readonly object[]): unknown {
  switch (typeof value) {
    case "string":
      return shortText(value);
    case "bigint":
      return `${value}`;
    case "number":
      return Number.isFinite(value) ? value : `${value}`;
    case "symbol":
      return value.toString();
    case "function":
      return `[function ${value.name || "without a name"}]`;
    case "object":
      return value === null ? null : plainObject(value, ancestors);
    default:
      return value;
  }
}

function plainObject(value: object, ancestors: readonly object[]): unknown {
  if (ancestors.includes(value)) return "[circular]";
  if (ancestors.length >= maxDepth) return "[nested too deep]";
  const inner = (each: unknown) => plain(each, [...ancestors, value]);
  if (value instanceof Error) return plainError(value, inner);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[invalid date]" : value.toISOString();
  if (value instanceof RegExp || value instanceof URL) return String(value);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (value instanceof Map) return shortened([...value].map((pair) => inner(pair)));
  if (Array.isArray(value) || value instanceof Set) return shortened([...value].map((each) => inner(each)));
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === "function") return inner(toJSON.call(value));
  return plainRecord(value, inner);
}

function plainError(error: Error, inner: (value: unknown) => unknown): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  const facts = { name: String(name), message: String(message), code, stack, cause, errors };
  const present = Object.entries(facts).filter(([, fact]) => fact !== undefined);
  return Object.fromEntries(present.map(([key, fact]) => [key, inner(fact)]));
}

function plainRecord(value: object, inner: (value: unknown) => unknown): Record<string, unknown> {
  const record: Record<string, unknown> = Object.create(null);
  const keys = Object.keys(value);
  for (const key of keys.slice(0, maxEntries)) record[key] = plainProperty(value, key, inner);
  if (keys.length > maxEntries) record["..."] = `[${keys.length - maxEntries} more]`;
  return record;
}

/** A getter that throws spoils its own entry only. */
function plainProperty(value: object, key: string, inner: (value: unknown) => unknown): unknown {
  try {
    return inner((value as Record<string, unknown>)[key]);
  } catch (error) {
    return `[cannot be shown: ${messageOf(error)}]`;
  }
}

function shortText(text: string): string {
  if (text.length <= maxCharacters) return text;
  return `${text.slice(0, maxCharacters)}... [${text.length - maxCharacters} more characters]`;
}

function shortened(list: unknown[]): unknown[] {
  return list.length <= maxEntries
    ? list
    : [...list.slice(0, maxEntries), `[${list.length - maxEntries} more]`];
}

function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.message) : String(thrown);
  } catch {
    return "its error cannot be shown either";
  }
}
