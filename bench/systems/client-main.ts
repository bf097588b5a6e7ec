import { createInterface } from "node:readline";
import { nowMs } from "../marks/clock.ts";
import { type ClientTask, chunk, type PublishMode } from "./system.ts";

/** A system's own client. Every job carries an index. */
export interface Client {
  /** Publishes the jobs `from` to `to` (exclusive) by the system's call for many. */
  publishMany(from: number, to: number): Promise<unknown>;
  publish(index: number): Promise<unknown>;
  /** Publishes one that is due at `dueMs` (epoch); undefined: it cannot. */
  publishAt?(index: number, dueMs: number): Promise<unknown>;
  close(): Promise<void>;
}

const inFlight = 100;

/** The program of a client: `<program> <url> <task as JSON>`. The answer is the last line that it prints. */
export async function serveClient(
  open: (url: string, task: ClientTask) => Client | Promise<Client>,
): Promise<void> {
  const [url = "", text = "{}"] = process.argv.slice(2);
  const task = JSON.parse(text) as ClientTask;
  const client = await open(url, task);
  const answer = await perform(client, task);
  await client.close();
  console.log(JSON.stringify(answer));
}

async function perform(client: Client, task: ClientTask): Promise<object> {
  switch (task.kind) {
    case "fill":
      await publishing.bulk(client, task.jobs);
      return {};
    case "publish": {
      // The first publication connects and loads scripts; it is the job with the last index.
      await client.publish(task.jobs - 1);
      const startMs = nowMs();
      await publishing[task.mode](client, task.jobs - 1);
      return { seconds: (nowMs() - startMs) / 1000 };
    }
    case "follow":
      return follow(client);
    case "plan":
      return plan(client, task);
  }
}

const publishing: Record<PublishMode, (client: Client, jobs: number) => Promise<void>> = {
  async single(client, jobs) {
    for (let index = 0; index < jobs; index++) await client.publish(index);
  },
  async hundred(client, jobs) {
    let next = 0;
    const lane = async () => {
      while (next < jobs) await client.publish(next++);
    };
    await Promise.all(Array.from({ length: inFlight }, lane));
  },
  async bulk(client, jobs) {
    for (let from = 0; from < jobs; from += chunk) {
      await client.publishMany(from, Math.min(from + chunk, jobs));
    }
  },
};

async function follow(client: Client): Promise<object> {
  console.log("ready");
  for await (const line of createInterface({ input: process.stdin })) {
    const publishedMs = nowMs();
    await client.publish(Number(line));
    console.log(String(publishedMs));
  }
  return {};
}

/** Due at random times of a span that begins a little ahead. */
async function plan(
  client: Client,
  { jobs, aheadMs, spreadMs }: Extract<ClientTask, { kind: "plan" }>,
): Promise<object> {
  if (client.publishAt === undefined) throw new Error("this client cannot plan jobs");
  const start = Date.now() + aheadMs;
  const dueMs = Array.from({ length: jobs }, () => start + Math.floor(Math.random() * spreadMs));
  for (const [index, due] of dueMs.entries()) await client.publishAt(index, due);
  return { dueMs };
}
