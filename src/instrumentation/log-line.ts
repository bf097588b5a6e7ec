import type { LogFields, LogLevel } from "./logger.ts";
import { plainValue } from "./plain-value.ts";

export interface LogLine {
  readonly timeMs: number;
  readonly level: Exclude<LogLevel, "silent">;
  readonly message: string;
  readonly fields: LogFields;
}

const reservedKeys = new Set(["time", "level", "message"]);
const colours = { debug: 90, info: 32, warn: 33, error: 31, dim: 2 } as const;

/** One JSON object. A field named like one of the line's own gets `_` appended, so that neither is lost. */
export function jsonLine({ timeMs, level, message, fields }: LogLine): string {
  const own = { time: new Date(timeMs).toISOString(), level, message: String(message) };
  const line: Record<string, unknown> = Object.assign(Object.create(null), own);
  for (const [key, value] of Object.entries(fields)) {
    line[reservedKeys.has(key) ? `${key}_` : key] = plainValue(value);
  }
  return `${JSON.stringify(line)}\n`;
}

/** `12:31:07.120 WARN  message key=value`, an error's stack on the lines below. */
export function readableLine({ timeMs, level, message, fields }: LogLine, isColoured: boolean): string {
  const paint = (colour: keyof typeof colours, text: string) =>
    isColoured ? `\u001b[${colours[colour]}m${text}\u001b[0m` : text;
  const parts = [
    paint("dim", clockTime(timeMs)),
    paint(level, level.toUpperCase().padEnd(5)),
    visible(message),
  ];
  const stacks: string[] = [];
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    const plain = plainValue(value);
    parts.push(`${paint("dim", `${visible(key)}=`)}${fieldText(plain, value)}`);
    if (value instanceof Error) stacks.push(...stackLines(plain));
  }
  return [parts.join(" "), ...stacks.map((line) => paint("dim", `    ${line}`)), ""].join("\n");
}

function clockTime(timeMs: number): string {
  const date = new Date(timeMs);
  const pad = (value: number, width = 2) => String(value).padStart(width, "0");
  const seconds = `${pad(date.getSeconds())}.${pad(date.getMilliseconds(), 3)}`;
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${seconds}`;
}

function fieldText(plain: unknown, original: unknown): string {
  if (original instanceof Error) {
    const { name, message } = plain as { name?: unknown; message?: unknown };
    return visible(`${name}: ${message}`);
  }
  if (typeof plain !== "string") return visible(JSON.stringify(plain) ?? "undefined");
  return /^[^\s"=]+$/.test(plain) ? visible(plain) : visible(JSON.stringify(plain));
}

/** The frames of an error and of its causes, each cause under a line of its own. */
function stackLines(plain: unknown): string[] {
  const { stack, cause } = (plain ?? {}) as { stack?: unknown; cause?: unknown };
  const frames = typeof stack === "string" ? stack.split("\n").filter((line) => /^\s*at /.test(line)) : [];
  const own = frames.map((line) => visible(line.trim()));
  if (typeof cause !== "object" || cause === null) return own;
  const { name, message } = cause as { name?: unknown; message?: unknown };
  return [...own, visible(`caused by ${name}: ${message}`), ...stackLines(cause)];
}

/** Control characters as escapes: text of a job's arguments must not steer the terminal. */
function visible(text: string): string {
  return String(text).replace(/[\p{Cc}\u2028\u2029]/gu, (character) =>
    JSON.stringify(character).slice(1, -1),
  );
}
