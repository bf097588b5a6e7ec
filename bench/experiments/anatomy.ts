import { summaryOf } from "../report/statistics.ts";
import { table } from "../report/table.ts";
import type { Experiment } from "./experiment.ts";
import { type NodeWork, nodeWork } from "./node-run.ts";
import { madeByJobs, stagesOf } from "./stages.ts";
import { onStand, type Stand } from "./stand.ts";
import { systemCalls } from "./system-calls.ts";

const rounds = 4;
const shapes = [
  { name: "ahead", lookAhead: 64, batch: 32, jobs: 40_000, warmUp: 10_000 },
  { name: "alone", lookAhead: 0, batch: 1, jobs: 8000, warmUp: 4000 },
] as const;

type Shape = (typeof shapes)[number];
type Figures = ReadonlyMap<string, number>;

/** Where the microseconds of a no-op job go: 1 worker x 1 slot that looks ahead, and one that does not. */
export const anatomy: Experiment = {
  name: "anatomy",
  summary: "where each microsecond of a no-op job goes, in batches and alone",
  run: (_, say) =>
    onStand(async (stand) => {
      const columns = new Map<string, Figures>();
      for (const shape of shapes) columns.set(shape.name, await figuresOf(stand, shape));
      const names = [...new Set([...columns.values()].flatMap((figures) => [...figures.keys()]))];
      const cell = (shape: Shape, name: string) => columns.get(shape.name)?.get(name)?.toFixed(2) ?? "-";
      say(
        table([
          ["", ...shapes.map(({ name }) => name)],
          ...names.map((name) => [name, ...shapes.map((shape) => cell(shape, name))]),
        ]),
      );
      const { kinds, parses, writes } = await madeByJobs();
      say(`parsed as JSON ${parses.toFixed(2)} times a job, written ${writes.toFixed(2)} times`);
      say(`objects a job: ${kinds.map(([kind, count]) => `${count.toFixed(2)} ${kind}`).join(", ")}`);
    }),
};

async function figuresOf(stand: Stand, shape: Shape): Promise<Figures> {
  const given = { stand, workers: 1, slots: 1, ...shape };
  const works: NodeWork[] = [];
  for (let round = 0; round < rounds; round++) works.push(await nodeWork(given));
  const each = works.map((work) => ofNode(work, shape.jobs));
  const figures = new Map<string, number>();
  for (const name of each[0]?.keys() ?? []) {
    figures.set(name, summaryOf(each.map((one) => one.get(name) ?? 0)).median);
  }
  const stages = await stagesOf(stand, shape.batch, shape.lookAhead);
  for (const [stage, us] of Object.entries(stages)) figures.set(`worker: ${stage}`, us);
  for (const [name, count] of await systemCalls({ ...given, jobs: shape.jobs / 2 })) {
    figures.set(`system calls a call: ${name}`, count);
  }
  return figures;
}

function ofNode({ before, after, seconds, threadSeconds }: NodeWork, jobs: number): Figures {
  const scriptUs = (after.scriptUs - before.scriptUs) / jobs;
  const cpuUs = (after.cpuUs - before.cpuUs) / jobs;
  const changed = (command: string, field: "us" | "calls") =>
    (after.commands.get(command)?.[field] ?? 0) - (before.commands.get(command)?.[field] ?? 0);
  const inside = ["lmove", "hset", "hmget", "exists", "del", "incrby", "hget", "time", "type"];
  const commands = inside.map((name) => [`Redis: ${name}`, changed(name, "us") / jobs] as const);
  const commandsUs = commands.reduce((sum, [, us]) => sum + us, 0);
  const [busiest = 0, ...others] = threadSeconds;
  return new Map([
    ["jobs/s", jobs / seconds],
    ["jobs a call", jobs / changed("evalsha", "calls")],
    ["Redis: CPU", cpuUs],
    ["Redis: script", scriptUs],
    ...commands,
    ["Redis: Lua and calling commands", scriptUs - commandsUs],
    ["Redis: reading, parsing, writing", cpuUs - scriptUs],
    ["bytes to Redis", (after.bytesRead - before.bytesRead) / jobs],
    ["bytes from Redis", (after.bytesWritten - before.bytesWritten) / jobs],
    ["worker: its thread", (busiest * 1e6) / jobs],
    ["worker: other threads of the process", (others.reduce((sum, each) => sum + each, 0) * 1e6) / jobs],
  ]);
}
