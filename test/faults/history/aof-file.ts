/** Commands in the text of an append-only file, each with the offset behind it. A last one that is cut off is left out. */
export function* commandsIn(bytes: Buffer): Generator<{ command: string[]; end: number }> {
  let at = 0;
  while (at < bytes.length) {
    const head = lineAt(bytes, at);
    if (head === undefined) return;
    if (!head.text.startsWith("*")) {
      at = head.end; // an annotation
      continue;
    }
    const found = argumentsAt(bytes, head.end, Number(head.text.slice(1)));
    if (found === undefined) return;
    at = found.end;
    yield found;
  }
}

function argumentsAt(
  bytes: Buffer,
  from: number,
  count: number,
): { command: string[]; end: number } | undefined {
  const command: string[] = [];
  let at = from;
  for (let i = 0; i < count; i++) {
    const size = lineAt(bytes, at);
    if (size === undefined) return undefined;
    const end = size.end + Number(size.text.slice(1));
    if (bytes.length < end + 2) return undefined;
    command.push(bytes.toString("utf8", size.end, end));
    at = end + 2;
  }
  return { command, end: at };
}

function lineAt(bytes: Buffer, from: number): { text: string; end: number } | undefined {
  const end = bytes.indexOf("\r\n", from);
  return end === -1 ? undefined : { text: bytes.toString("latin1", from, end), end: end + 2 };
}
