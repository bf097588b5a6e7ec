import { UndecodableEnvelope } from "../foundation/errors.ts";

/** Where one top-level field stands in the text: from its name's quote to the end of its value. */
export interface FieldSpan {
  readonly name: string;
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

/**
 * The top-level fields of a JSON object, found without decoding their values.
 *
 * @returns the spans in order, and the index behind the closing brace
 * @throws UndecodableEnvelope when the text is not a JSON object
 */
export function fieldSpans(text: string): { spans: FieldSpan[]; end: number } {
  const spans: FieldSpan[] = [];
  let at = skipSpace(text, 0);
  if (text[at] !== "{") throw new UndecodableEnvelope("expected a JSON object");
  at = skipSpace(text, at + 1);
  if (text[at] === "}") return { spans, end: at + 1 };
  for (;;) {
    const start = at;
    at = stringEnd(text, at);
    const name = nameIn(text.slice(start, at));
    at = skipSpace(text, at);
    if (text[at] !== ":") throw new UndecodableEnvelope(`expected ":" at ${at}`);
    const valueStart = skipSpace(text, at + 1);
    const end = valueEnd(text, valueStart);
    spans.push({ name, start, valueStart, end });
    at = skipSpace(text, end);
    if (text[at] === "}") return { spans, end: at + 1 };
    if (text[at] !== ",") throw new UndecodableEnvelope(`expected "," or "}" at ${at}`);
    at = skipSpace(text, at + 1);
  }
}

function nameIn(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch (error) {
    throw new UndecodableEnvelope(`a field's name is not JSON text: ${quoted.slice(0, 40)}`, {
      cause: error,
    });
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (let c = text.charCodeAt(at); c === 32 || c === 9 || c === 10 || c === 13; c = text.charCodeAt(at))
    at++;
  return at;
}

function stringEnd(text: string, from: number): number {
  if (text[from] !== '"') throw new UndecodableEnvelope(`expected a quoted name at ${from}`);
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === 92) backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
  throw new UndecodableEnvelope(`a text that begins at ${from} does not end`);
}

function valueEnd(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return stringEnd(text, from);
  if (first === "{" || first === "[") return nestedEnd(text, from);
  const bare = /[^\s,}\]]+/y;
  bare.lastIndex = from;
  if (!bare.test(text)) throw new UndecodableEnvelope(`expected a value at ${from}`);
  return bare.lastIndex;
}

function nestedEnd(text: string, from: number): number {
  const structural = /["{}[\]]/g;
  structural.lastIndex = from;
  let depth = 0;
  for (let found = structural.exec(text); found !== null; found = structural.exec(text)) {
    const at = found.index;
    if (found[0] === '"') {
      structural.lastIndex = stringEnd(text, at);
      continue;
    }
    depth += found[0] === "{" || found[0] === "[" ? 1 : -1;
    if (depth === 0) return at + 1;
  }
  throw new UndecodableEnvelope(`a value that begins at ${from} does not end`);
}
