import { SolidJobsError } from "../foundation/errors.ts";

/** Bytes that a line, which is a request, may take. */
export const maxLineBytes = 64 * 1024 * 1024;

/** One Redis command; a number of the request is here in the digits that the client wrote. */
export interface Command {
  readonly name: string;
  readonly args: readonly string[];
}

/** What one line asks for. */
export interface Request {
  readonly commands: readonly Command[];
  readonly isPipeline: boolean;
}

/** A line that is no request, or one that the gateway does not carry. Nothing was sent to Redis. */
export class RefusedRequest extends SolidJobsError {
  override readonly name = "RefusedRequest";

  constructor(message: string, options?: { cause?: unknown; code?: string }) {
    super(options?.code ?? "REFUSED_REQUEST", message, options);
  }
}

const shapes = '{"command":"GET","args":["key"]} or {"pipeline":[["SET","key",1],["GET","key"]]}';

/**
 * Reads one line. Keys beside `command`, `args` and `pipeline` are let be.
 * @throws RefusedRequest for bytes that are not UTF-8, for anything but the two shapes, and for commands that
 * change what a connection is
 */
export function parseRequest(line: Uint8Array): Request {
  const text = decoded(line);
  const value = parsed(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw unknownShape(kind(value));
  const { command, args, pipeline } = value as Record<string, unknown>;
  if (command !== undefined && pipeline !== undefined) throw unknownShape("both command and pipeline");
  if (typeof command === "string") return single(command, args ?? [], text);
  if (Array.isArray(pipeline)) return several(pipeline, text);
  if (command !== undefined) throw unknownShape(`a command that is ${kind(command)}`);
  if (pipeline !== undefined) throw unknownShape(`a pipeline that is ${kind(pipeline)}`);
  throw unknownShape("neither command nor pipeline");
}

function single(name: string, args: unknown, text: string): Request {
  if (!Array.isArray(args)) throw unknownShape(`args that are ${kind(args)}`);
  const isNumbered = args.some((arg) => typeof arg === "number");
  const exact = isNumbered ? (withDigits(text) as { args: unknown[] }).args : args;
  return { isPipeline: false, commands: [commandOf(name, exact, "args")] };
}

function several(pipeline: readonly unknown[], text: string): Request {
  const isNumbered = pipeline.some((each) => Array.isArray(each) && each.some((x) => typeof x === "number"));
  const exact = isNumbered ? (withDigits(text) as { pipeline: unknown[] }).pipeline : pipeline;
  const commands = exact.map((each, index) => {
    if (!Array.isArray(each)) throw unknownShape(`pipeline[${index}] that is ${kind(each)}`);
    const [name, ...args] = each;
    if (typeof name !== "string") throw unknownShape(`pipeline[${index}] without a command's name`);
    return commandOf(name, args, `pipeline[${index}]`);
  });
  return { isPipeline: true, commands };
}

function commandOf(name: string, args: readonly unknown[], where: string): Command {
  if (name.trim() === "") throw unknownShape("an empty command");
  const stranger = args.findIndex((arg) => typeof arg !== "string");
  if (stranger !== -1) {
    throw new RefusedRequest(
      `expected texts and numbers as arguments of ${name}, got ${kind(args[stranger])} in ${where}`,
    );
  }
  const texts = [name, ...(args as string[])];
  if (!texts.every((text) => text.isWellFormed())) {
    throw new RefusedRequest(
      `expected valid Unicode as arguments of ${name}, got half of a surrogate pair in ${where}: bytes that are not UTF-8 cannot pass the gateway`,
    );
  }
  const command = { name: name.toUpperCase(), args: args as string[] };
  refuseOwnMatters(command);
  return command;
}

/** Their replies do not come one for one, or would outlive the connection that the gateway replaces. */
const streaming = /^(?:[PS]?(?:UN)?SUBSCRIBE|MONITOR|P?SYNC|REPLCONF)$/;
const personal = /^(?:HELLO|AUTH|SELECT|RESET|QUIT)$/;

function refuseOwnMatters({ name, args }: Command): void {
  const sub = args[0]?.toUpperCase() ?? "";
  if (
    streaming.test(name) ||
    (name === "CLIENT" && /^(?:REPLY|TRACKING)$/.test(sub)) ||
    isDebugger(name, sub)
  ) {
    const whole = name === "CLIENT" || name === "SCRIPT" ? `${name} ${sub}` : name;
    throw new RefusedRequest(`the gateway does not carry ${whole}: it answers each request with one reply`);
  }
  if (personal.test(name)) {
    throw new RefusedRequest(
      `the gateway does not carry ${name}: user, database and protocol are set where the gateway is started`,
    );
  }
}

function isDebugger(name: string, sub: string): boolean {
  return name === "SCRIPT" && sub === "DEBUG";
}

function decoded(line: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(line);
  } catch (cause) {
    throw new RefusedRequest("expected a line of UTF-8, got other bytes", { cause, code: "BAD_JSON" });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new RefusedRequest(
      `expected one JSON object a line, such as ${shapes}; got ${shown(text)} (${(cause as Error).message})`,
      { cause, code: "BAD_JSON" },
    );
  }
}

/** A number becomes the text it was written as: `1.0` and large whole numbers would change as a double. */
function withDigits(text: string): unknown {
  const digits = (_key: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === "number" ? (context?.source ?? String(value)) : value;
  try {
    return JSON.parse(text, digits);
  } catch (cause) {
    throw new RefusedRequest("expected a request, got one that is nested too deeply", { cause });
  }
}

function unknownShape(got: string): RefusedRequest {
  return new RefusedRequest(`expected ${shapes}, got ${got}`);
}

function kind(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return typeof value === "string" ? "a text" : `a ${typeof value}`;
}

function shown(text: string): string {
  return text.length > 60 ? `${JSON.stringify(text.slice(0, 60))}...` : JSON.stringify(text);
}
