import { existsSync } from "node:fs";
import type { Command } from "commander";
import type { MoveEnd } from "../catalog/move-checks.ts";
import type { Environment } from "../config/environment.ts";
import { settingsFrom } from "../config/resolve.ts";
import type { Settings } from "../config/settings.ts";
import { storeUrlRule } from "../config/store-url.ts";
import { fileKey } from "../config/table.ts";
import { ConfigurationError } from "../foundation/errors.ts";
import { lineWriter } from "../instrumentation/line-writer.ts";
import { moveSummary, ProgressLine } from "./move-output.ts";

const examples = `
Examples:
  From one machine's file to a fleet's Redis, and then away from the file:
    $ solid-jobs move --from sqlite:.solid-jobs/jobs.sqlite --to redis://redis.internal:6379/0 --delete

No node may run on either store meanwhile. A move that was ended in its middle goes on when it is run again.`;

interface MoveFlags {
  readonly from: string;
  readonly to: string;
  readonly prefix?: string;
  readonly delete?: boolean;
  readonly again?: boolean;
  readonly config?: string;
}

/** Adds `solid-jobs move`; `finish` gets its exit status. */
export function addMoveCommand(program: Command, env: Environment, finish: (status: number) => void): void {
  const command = program
    .command("move")
    .description("Copies all waiting, planned, retried and discarded jobs from one store to another.")
    .usage("--from <url> --to <url> [options]")
    .requiredOption("--from <url>", "the store that jobs are taken from; it stays as it is without --delete")
    .requiredOption("--to <url>", "the store that jobs are added to")
    .option("--delete", "take away from the first store what has arrived in the second one for certain")
    .option("--again", "copy once more what was copied completely before: its jobs run twice")
    .option("--prefix <text>", "what the keys of a Redis begin with, as the setting prefix")
    .option("-C, --config <path>", "TOML or JSON file with settings")
    .addHelpText("after", examples);
  command.action(async (_own: unknown, self: Command) => {
    const {
      from,
      to,
      prefix,
      delete: isDeleting,
      again,
      config,
      ...flags
    } = self.optsWithGlobals<MoveFlags>();
    refuseForeign(flags);
    const settingsAt = (flag: string, url: string) =>
      settingsFrom({ given: { url: checkedUrl(flag, url), prefix }, configFile: config, env });
    const source = settingsAt("--from", from);
    const target = settingsAt("--to", to);
    refuseMissingFile(source);
    finish(await runMove(source, target, { isDeleting: isDeleting ?? false, isAgain: again ?? false }));
  });
}

function checkedUrl(flag: string, url: string): string {
  const reading = storeUrlRule().fromText(url, { origin: `flag ${flag}`, folder: process.cwd() });
  if (reading.isValid) return reading.value;
  throw new ConfigurationError(`flag ${flag}: ${reading.problem}`);
}

/** The program's own flags are understood after the command's name too; they are for nodes. */
function refuseForeign(flags: object): void {
  const [foreign] = Object.keys(flags);
  if (foreign === undefined) return;
  const flag = fileKey(foreign).replaceAll("_", "-");
  throw new ConfigurationError(`move has no use for --${flag} (see solid-jobs move --help)`);
}

/** Opening one that is not there would make it. */
function refuseMissingFile({ url }: Settings): void {
  const path = url.startsWith("sqlite:") ? url.slice("sqlite:".length) : undefined;
  if (path === undefined || existsSync(path)) return;
  throw new ConfigurationError(`flag --from: there is no file ${path}`);
}

async function runMove(
  source: Settings,
  target: Settings,
  { isDeleting, isAgain }: { isDeleting: boolean; isAgain: boolean },
): Promise<number> {
  // Loaded late: --help and wrong flags are answered without the stores.
  const { moveJobs } = await import("../catalog/move.ts");
  const { isatty } = await import("node:tty"); // slow to load, and a node's start loads this file
  const { catalogStoreFor, storeFor, transferStoreFor } = await import("../store/open.ts");
  const end = (settings: Settings): MoveEnd => ({
    catalog: catalogStoreFor(settings),
    transfer: transferStoreFor(settings),
  });
  const interruption = new AbortController();
  const interrupt = () =>
    interruption.abort(new ConfigurationError("interrupted: run the same command again to go on"));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt);
  const progress = new ProgressLine(isatty(2));
  const [from, to] = [end(source), end(target)];
  const checked = storeFor(target);
  try {
    for (const warning of (await checked.open()).warnings) lineWriter(2)(`solid-jobs: ${warning}\n`);
    const report = await moveJobs({
      from,
      to,
      isDeleting,
      isAgain,
      signal: interruption.signal,
      onProgress: (its) => progress.show(its),
    });
    progress.clear();
    lineWriter(1)(isatty(1) ? moveSummary(report, isDeleting) : `${JSON.stringify(report)}\n`);
    return 0;
  } finally {
    progress.clear();
    for (const { catalog, transfer } of [from, to]) await Promise.all([catalog.close(), transfer.close()]);
    await checked.close();
  }
}
