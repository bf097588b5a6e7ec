import { Database } from "bun:sqlite";
import { inClient } from "../support/client-process.ts";
import type { FileStage } from "../support/file-stage.ts";
import { spread, summaryOf } from "../support/statistics.ts";
import { type EmbeddedSystem, embeddedSystems, raw, solidJobs } from "../systems/embedded.ts";
import { pathOf } from "../systems/path-of.ts";
import { chunk } from "../systems/system.ts";
import { info, inTurn, jobsOf, type Knobs, type Measure, type Row } from "./measure.ts";

const jobs = 200_000;
/** Enough for a system that stores 10,000 a second. */
const fewerJobs = 50_000;
const targetPerSecond = 200_000;

/** Publications a second of a fresh process in calls for many, with nobody working. */
export const embeddedPublishing: Measure<FileStage> = {
  name: "publishing",
  async run(stage, knobs, log) {
    const rates = new Map<EmbeddedSystem, number[]>(embeddedSystems.map((each) => [each, []]));
    for (let round = 0; round < knobs.repetitions; round++) {
      for (const each of inTurn(embeddedSystems, round)) {
        const rate = await measured(stage, each, knobs);
        rates.get(each)?.push(rate);
        log(`${each.system.name}: ${Math.round(rate)} published/s in calls of ${chunk}`);
      }
    }
    const data = Object.fromEntries([...rates].map(([{ system }, values]) => [system.name, values]));
    return { rows: rowsOf(rates), data };
  },
};

/** @throws Error unless all of them are in the file in the end */
async function measured(stage: FileStage, { system, table }: EmbeddedSystem, knobs: Knobs): Promise<number> {
  const amount = jobsOf(system.name === "bunqueue" ? fewerJobs : jobs, knobs);
  return stage.inFolder(async (folder) => {
    const url = stage.urlIn(folder);
    const { perSecond } = await inClient(system, url, { kind: "publish-many", jobs: amount });
    const database = new Database(pathOf(url));
    const stored = database.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n;
    database.close();
    if (stored === amount) return perSecond;
    throw new Error(`${system.name} published ${amount} jobs, and ${stored} are in its file`);
  });
}

function rowsOf(rates: ReadonlyMap<EmbeddedSystem, number[]>): Row[] {
  const median = (system: EmbeddedSystem["system"]) =>
    summaryOf([...rates].find(([each]) => each.system === system)?.[1] ?? []).median;
  const ours = median(solidJobs);
  return [
    ...[...rates].map(([{ system, bulkLeavesOut }, values]) => ({
      what: `published/s in calls of ${chunk}: ${system.name}${bulkLeavesOut && `, ${bulkLeavesOut}`}`,
      reached: spread(summaryOf(values)),
      target: system === solidJobs ? `at least ${targetPerSecond}` : "",
      isReached: system === solidJobs ? ours >= targetPerSecond : undefined,
    })),
    info("  share of the raw loop's", (ours / median(raw)).toFixed(2)),
  ];
}
