import { type Client, chunk } from "../systems/system.ts";
import { type MarksLayout, nowMs } from "./marks.ts";
import { MarksReader } from "./marks-reader.ts";

/** What a client's process can be asked for, and what it answers. */
export type ClientTask =
  | { readonly kind: "fill"; readonly jobs: number }
  | { readonly kind: "publish-many"; readonly jobs: number }
  | { readonly kind: "publish-one-by-one"; readonly jobs: number }
  | { readonly kind: "publish-and-await"; readonly jobs: number; readonly marks: Marks }
  | { readonly kind: "plan"; readonly jobs: number; readonly aheadMs: number; readonly spreadMs: number };

export interface Marks {
  readonly folder: string;
  readonly layout: MarksLayout;
}

export type ClientResult<K extends ClientTask["kind"]> = {
  fill: { readonly jobs: number };
  "publish-many": { readonly perSecond: number };
  "publish-one-by-one": { readonly perSecond: number };
  /** When each was published. */
  "publish-and-await": { readonly publishedMs: readonly number[] };
  /** When each is due. */
  plan: { readonly dueMs: readonly number[] };
}[K];

export function perform(client: Client, task: ClientTask): Promise<ClientResult<ClientTask["kind"]>> {
  switch (task.kind) {
    case "fill":
      return fill(client, task.jobs).then(() => ({ jobs: task.jobs }));
    case "publish-many":
      return perSecond(task.jobs, () => fill(client, task.jobs));
    case "publish-one-by-one":
      return perSecond(task.jobs, () => oneByOne(client, task.jobs));
    case "publish-and-await":
      return publishAndAwait(client, task.jobs, task.marks);
    case "plan":
      return plan(client, task);
  }
}

async function fill(client: Client, jobs: number): Promise<void> {
  for (let from = 0; from < jobs; from += chunk) {
    await client.publishMany(from, Math.min(from + chunk, jobs));
  }
}

async function oneByOne(client: Client, jobs: number): Promise<void> {
  for (let index = 0; index < jobs; index++) await client.publish(index);
}

async function perSecond(jobs: number, publish: () => Promise<void>): Promise<{ perSecond: number }> {
  const start = nowMs();
  await publish();
  return { perSecond: (jobs / (nowMs() - start)) * 1000 };
}

/** One at a time, each when the one before has run and the node has been idle for a moment. */
async function publishAndAwait(
  client: Client,
  jobs: number,
  { folder, layout }: Marks,
): Promise<{ publishedMs: number[] }> {
  const reader = new MarksReader(folder, layout);
  const publishedMs: number[] = [];
  for (let index = 0; index < jobs; index++) {
    publishedMs.push(nowMs());
    await client.publish(index);
    const givenUpAt = nowMs() + 30_000;
    while (reader.ran().count <= index) {
      if (nowMs() > givenUpAt) throw new Error(`job ${index} was published and did not run within 30 s`);
      await Bun.sleep(1);
    }
    await Bun.sleep(1 + Math.random() * 4);
  }
  return { publishedMs };
}

/** Due at random times of a span that begins a little ahead. */
async function plan(
  client: Client,
  { jobs, aheadMs, spreadMs }: Extract<ClientTask, { kind: "plan" }>,
): Promise<{ dueMs: number[] }> {
  const start = Date.now() + aheadMs;
  const dueMs = Array.from({ length: jobs }, () => start + Math.floor(Math.random() * spreadMs));
  for (const [index, due] of dueMs.entries()) await client.publishAt(index, due);
  return { dueMs };
}
