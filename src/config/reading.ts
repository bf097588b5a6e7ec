/** What a rule makes of a value: the value in its final form, or why it cannot be used. */
export type Reading<T> =
  | { readonly isValid: true; readonly value: T }
  | { readonly isValid: false; readonly problem: string };

/**
 * How one setting's values are checked and brought into their final form. Flags and the environment give
 * text, which `fromText` takes apart; code and files give values.
 */
export interface Rule<T> {
  /** What is expected, to be put after "expected": `a whole number from 1 to 256`. */
  readonly expected: string;
  read(value: unknown, place: Place): Reading<T>;
  fromText(text: string, place: Place): Reading<T>;
}

/** Where a value was written. */
export interface Place {
  /** Such as `flag --slots`, `environment SOLID_JOBS_SLOTS` or `config file /app/jobs.toml, key slots`. */
  readonly origin: string;
  /** The folder that relative paths in it start from. */
  readonly folder: string;
}

export function valid<T>(value: T): Reading<T> {
  return { isValid: true, value };
}

export function invalid(problem: string): Reading<never> {
  return { isValid: false, problem };
}

/** A value as an error message shows it: `"text"`, `12`, `a list`; long ones are cut. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (value instanceof Date) return "a date";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value === "function") return "a function";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
