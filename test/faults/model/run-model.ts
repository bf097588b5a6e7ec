import fc from "fast-check";
import { RedisServer } from "../../support/redis-server.ts";
import type { EngineName } from "../steps/scene.ts";
import { Model } from "./model.ts";
import { type Ground, Real } from "./real.ts";
import { allSteps } from "./steps/all.ts";
import { addNode } from "./steps/living.ts";

export interface ModelOptions {
  readonly engine: EngineName;
  readonly seed: number;
  readonly runs: number;
  /** Steps of one run, at most. Default 80. */
  readonly steps?: number;
  /** From the report of a failure, to begin with what it ended with. */
  readonly path?: string | undefined;
  readonly replayPath?: string | undefined;
}

export interface ModelReport {
  readonly runs: number;
  /** By their kind. */
  readonly steps: ReadonlyMap<string, number>;
  /** With the seed, the path and the shortest steps that show it; undefined when all is well. */
  readonly failure: string | undefined;
}

const nodesAtFirst = 2;

/** The machine's part, kept for many runs. */
export async function withGround<T>(engine: EngineName, work: (ground: Ground) => Promise<T>): Promise<T> {
  const redis = engine === "redis" ? await RedisServer.start() : undefined;
  const client = await redis?.client();
  try {
    return await work({ engine, redis, client });
  } finally {
    client?.close();
    await redis?.stop();
  }
}

/** Random steps by several nodes against a store and its model, which are compared after each. */
export async function runModel(ground: Ground, options: ModelOptions): Promise<ModelReport> {
  const { seed, runs, steps = 80, path, replayPath } = options;
  let started = 0;
  const taken = new Map<string, number>();
  const commands = fc.commands(allSteps, {
    maxCommands: steps,
    size: "max",
    ...(replayPath === undefined ? {} : { replayPath }),
  });
  const property = fc.asyncProperty(commands, async (given) => {
    const model = new Model();
    const real = await Real.open(ground);
    started += 1;
    try {
      for (let nodes = 0; nodes < nodesAtFirst; nodes++) await addNode(model, real);
      await fc.asyncModelRun(() => ({ model, real }), given);
      await endSoundly(model, real);
    } finally {
      for (const [kind, count] of model.steps) taken.set(kind, (taken.get(kind) ?? 0) + count);
      await real.close();
    }
  });
  const details = await fc.check(property, { seed, numRuns: runs, ...(path === undefined ? {} : { path }) });
  const failure = details.failed
    ? `${fc.defaultReportMessage(details)}\n${(details.errorInstance as Error | null)?.message}`
    : undefined;
  return { runs: started, steps: taken, failure };
}

/** The library's own check, once nobody is taken for dead any more. */
async function endSoundly(model: Model, real: Real): Promise<void> {
  for (const node of model.nodes) {
    if (node.state !== "expired") continue;
    await real.recover(node, { isProven: true });
    model.remove(node, { isCrash: true });
  }
  await real.checkIntegrity(model);
}
