import { resolve } from "node:path";
import { type Command, Option } from "commander";
import type { Environment } from "../config/environment.ts";
import { settingsFrom } from "../config/resolve.ts";
import type { Settings } from "../config/settings.ts";
import { fileKey, settingsTable } from "../config/table.ts";
import { ConfigurationError } from "../foundation/errors.ts";
import { createLogger } from "../instrumentation/logger-output.ts";

const examples = `
Examples:
  Beside a program that ends the gateway with itself, by closing its standard input:
    $ solid-jobs gateway --socket ~/.run/jobs/gateway.sock --redis-url redis://localhost:6379/0

  Under a supervisor, which gives it no standard input:
    $ solid-jobs gateway --socket ~/.run/jobs/gateway.sock --keep-running`;

interface GatewayFlags {
  readonly socket: string;
  readonly keepRunning?: boolean;
  readonly resp: "2" | "3";
  readonly config?: string;
}

/** Adds `solid-jobs gateway`; `finish` gets its exit status. */
export function addGatewayCommand(
  program: Command,
  env: Environment,
  finish: (status: number) => void,
): void {
  const command = program
    .command("gateway")
    .description("Serves Redis to programs of this user as lines of JSON over a Unix socket.")
    .usage("--socket <path> [options]")
    .requiredOption("--socket <path>", "where clients connect: made with mode 0600, its directory with 0700")
    .option("--keep-running", "go on when standard input ends, as under a supervisor")
    .addOption(
      new Option("--resp <version>", "shapes of replies: 2, lists and texts only; 3, with maps and doubles")
        .choices(["2", "3"])
        .default("2"),
    )
    .addHelpText("after", examples);
  for (const { flag, doc } of [settingsTable.url, settingsTable.url.alias!, settingsTable.logLevel]) {
    command.option(flag!, doc);
  }
  command.option("-C, --config <path>", "TOML or JSON file with settings");
  command.action(async (_own: unknown, self: Command) => {
    const { socket, keepRunning, resp, config, ...flags } = self.optsWithGlobals<GatewayFlags>();
    refuseForeign(flags);
    const settings = settingsFrom({ flags, configFile: config, env });
    finish(
      await runGateway({ socket, keepRunning: keepRunning ?? false, resp: resp === "3" ? 3 : 2 }, settings),
    );
  });
}

/** The program's own flags are understood after the command's name too; most are for nodes. */
function refuseForeign(flags: object): void {
  const foreign = Object.keys(flags).find((name) => !["url", "redisUrl", "logLevel"].includes(name));
  if (foreign === undefined) return;
  const flag = fileKey(foreign).replaceAll("_", "-");
  throw new ConfigurationError(`the gateway has no use for --${flag} (see solid-jobs gateway --help)`);
}

interface GatewayRun {
  readonly socket: string;
  readonly keepRunning: boolean;
  readonly resp: 2 | 3;
}

async function runGateway({ socket, keepRunning, resp }: GatewayRun, settings: Settings): Promise<number> {
  const logger = createLogger({ level: settings.logLevel });
  const end = ending(keepRunning);
  // Loaded late: --help and wrong settings are answered without the runtime.
  const { Gateway } = await import("../gateway/gateway.ts");
  const { redisAddress } = await import("../store/redis/address.ts");
  const address = redisAddress(redisUrl(settings.url), settings.tlsCa);
  const socketPath = resolve(socket);
  const gateway = new Gateway({ socketPath, address, resp, logger });
  await gateway.start();
  logger.info("gateway listening", { socket: socketPath, redis: address.display });
  const reason = await end;
  logger.info("gateway stopping", { reason });
  await gateway.stop();
  return 0;
}

function redisUrl(url: string | undefined): string {
  if (url !== undefined && !url.startsWith("sqlite:")) return url;
  throw new ConfigurationError(
    `the gateway serves Redis: expected its URL in --url, SOLID_JOBS_URL, the file's url or REDIS_URL, got ${url ?? "none"}`,
  );
}

/** Resolves with the reason to end. A parent that ends closes the gateway's standard input. */
function ending(keepRunning: boolean): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => resolve(signal));
    if (keepRunning) return;
    const ended = () => resolve("standard input ended (--keep-running goes on without it)");
    process.stdin.on("end", ended).on("error", ended).resume();
  });
}
