import type { Socket } from "bun";

/** Raw protocol text to send, or nothing for a server that stays silent. */
export type StubAnswer = string | undefined;

/**
 * A server that speaks just enough of Redis' protocol to act as one that the machine does not have: an old
 * version, one that answers wrongly, one that falls silent. `answer` gets each command as it came.
 */
export class RedisStub {
  /** Every command that came, in order. */
  readonly commands: string[][] = [];
  connections = 0;
  private readonly listener;

  constructor(answer: (command: string[], stub: RedisStub) => StubAnswer) {
    this.listener = Bun.listen<{ pending: string }>({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open: (socket) => {
          this.connections += 1;
          socket.data = { pending: "" };
        },
        data: (socket, chunk) => {
          socket.data.pending += chunk.toString("latin1");
          this.serve(socket, answer);
        },
      },
    });
  }

  get url(): string {
    return `redis://127.0.0.1:${this.listener.port}`;
  }

  stop(): void {
    this.listener.stop(true);
  }

  private serve(
    socket: Socket<{ pending: string }>,
    answer: (command: string[], stub: RedisStub) => StubAnswer,
  ): void {
    for (let parsed = parse(socket.data.pending); parsed !== undefined; parsed = parse(socket.data.pending)) {
      socket.data.pending = socket.data.pending.slice(parsed.length);
      this.commands.push(parsed.command);
      const reply = answer(parsed.command, this);
      if (reply !== undefined) socket.write(reply);
    }
  }
}

/** The greeting of a server of this version, in either protocol's form. */
export function helloReply(version: string, mode = "standalone"): string {
  const fields = ["server", "redis", "version", version, "mode", mode, "role", "master"];
  return `%${fields.length / 2}\r\n${fields.map(bulk).join("")}`;
}

export function bulk(text: string): string {
  return `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
}

/** The first whole command of what has come, as an array of bulk strings. */
function parse(text: string): { command: string[]; length: number } | undefined {
  const head = /^\*(\d+)\r\n/.exec(text);
  if (head === null) return undefined;
  const command: string[] = [];
  let at = head[0].length;
  for (let i = 0; i < Number(head[1]); i++) {
    const size = /^\$(\d+)\r\n/.exec(text.slice(at));
    if (size === null) return undefined;
    const from = at + size[0].length;
    const to = from + Number(size[1]);
    if (text.length < to + 2) return undefined;
    command.push(text.slice(from, to));
    at = to + 2;
  }
  return { command, length: at };
}
