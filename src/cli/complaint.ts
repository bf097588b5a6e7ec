import { CommanderError } from "commander";
import { SolidJobsError, toError } from "../foundation/errors.ts";

/** What standard error gets for an error: one line that begins with the program's name, `solid-jobs: ...`. */
export function complaint(thrown: unknown, program = "solid-jobs"): string {
  return `${program}: ${oneLine(wording(thrown, program))}\n`;
}

function wording(thrown: unknown, program: string): string {
  const error = toError(thrown);
  if (error instanceof CommanderError) return commanderWording(error.message, program);
  if (error instanceof SolidJobsError) return error.message;
  return `unexpected ${error.name}: ${error.message}${firstFrame(error)}`;
}

/** Commander puts its suggestion on a second line, and says nothing of help. */
function commanderWording(message: string, program: string): string {
  return `${message.replace(/^error: /, "").replace("(Did you mean", "(did you mean")} (see ${program} --help)`;
}

/** Such an error is a fault of ours or of a module: the place helps whoever reports it. */
function firstFrame(error: Error): string {
  const frame = error.stack?.split("\n").find((line) => /^\s*at /.test(line));
  return frame === undefined ? "" : ` (${frame.trim()})`;
}

function oneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, " ");
}
