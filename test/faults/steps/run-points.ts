import { join } from "node:path";
import type { RedisServer } from "../../support/redis-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { randomHex } from "../../../src/foundation/ids.ts";
import type { Level } from "./crash-points.ts";
import { afterwards } from "./afterwards.ts";
import { Ledger, type Line } from "./ledger.ts";
import { type Address, closePlace, type EngineName, openPlace, type Scene } from "./scene.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import type { Order } from "./victim.ts";

export interface PointsOptions {
  readonly engine: EngineName;
  readonly level: Level;
  readonly redis: RedisServer;
  /** Which points are run. Default: all. The end of the scenario, without a death, always is. */
  readonly isChosen?: ((at: number) => boolean) | undefined;
}

export interface PointsReport {
  /** Deaths, each of which was recovered from and checked. */
  deaths: number;
  /** Such as `Store.publish`: what the process called up to its end. */
  readonly calls: readonly string[];
  /** With the point at which the process had died; empty when all is well. */
  readonly faults: string[];
}

const victim = join(import.meta.dir, "victim.ts");

/** Lets a process take the steps of a scenario again and again, and die one point later each time. */
export async function runPoints(scenario: Scenario, options: PointsOptions): Promise<PointsReport> {
  const { isChosen = () => true } = options;
  const report = { deaths: 0, calls: [] as readonly string[], faults: [] as string[] };
  for (let at = 0; ; at++) {
    if (!isChosen(at)) continue;
    const { lines, faults } = await runPoint(scenario, at, options);
    const death = lines.find((line) => line.kind === "death");
    const where = death === undefined ? "without a death" : `${death.when} ${death.point} (point ${at})`;
    report.faults.push(...faults.map((fault) => `${scenario.name}, ${where}: ${fault}`));
    if (death === undefined) {
      const end = lines.find((line) => line.kind === "end");
      if (end === undefined) report.faults.push(`${scenario.name}, point ${at}: the process failed, see its output`);
      return { ...report, calls: end?.calls ?? [] };
    }
    report.deaths += 1;
  }
}

async function runPoint(
  scenario: Scenario,
  at: number,
  { engine, level, redis }: PointsOptions,
): Promise<{ lines: readonly Line[]; faults: readonly string[] }> {
  using folder = temporaryFolder();
  const address = (name: string, kind: EngineName): Address =>
    kind === "redis"
      ? { engine: kind, location: redis.url, prefix: `${name}${randomHex(4)}:` }
      : { engine: kind, location: join(folder.path, `${name}.sqlite`), prefix: "" };
  const foreign = engine === "redis" ? "sqlite" : "redis";
  const main = address("main", engine);
  const other = address("other", scenario.other === "other engine" ? foreign : engine);
  const ledger = new Ledger(join(folder.path, "ledger"));
  const scene: Scene = { main: openPlace(main), other: openPlace(other), ledger };
  try {
    await scenario.before?.(scene);
    await die({ scenario: scenario.name, level, at, main, other, ledger: ledger.path });
    const lines = ledger.lines();
    await scenario.after?.(scene);
    return { lines, faults: await afterwards(scene) };
  } finally {
    await closePlace(scene.main);
    await closePlace(scene.other);
  }
}

async function die(order: Order): Promise<void> {
  const process_ = Bun.spawn([process.execPath, victim, JSON.stringify(order)], {
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
  });
  await process_.exited;
}
