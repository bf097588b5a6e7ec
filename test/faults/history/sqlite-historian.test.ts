import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { settingsFrom } from "../../../src/config/resolve.ts";
import { storeFor } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { ownEnvelope } from "../../support/stored.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { SqliteHistorian } from "./sqlite-historian.ts";

const executor = { node: "n", executor: "w0-1", generation: "g" };
const nothing = { executor, settlements: [], slots: [], channels: [] };

async function register(store: Store): Promise<void> {
  const facts = {
    hostname: "h",
    pid: 1,
    startedAt: 1,
    channels: ["default"],
    labels: [],
    concurrency: 1,
    ttl: 15,
  };
  await store.register({ identity: "n", ...facts, bootId: "", pidNamespace: "", pidStarted: "" });
  await store.grant(executor);
}

test("the history of an embedded store has each job's way with the tokens of its claims, and a false step is seen", async () => {
  using folder = temporaryFolder();
  const url = `sqlite:${join(folder.path, "jobs.sqlite")}`;
  const store = storeFor(settingsFrom({ env: {}, given: { url } }));
  await store.open();
  const historian = new SqliteHistorian(join(folder.path, "jobs.sqlite"));
  await register(store);
  await store.publish(["a", "b", "c"].map((id) => ({ id, channel: "default", payload: ownEnvelope(id) })));
  const channels = [{ channel: "default", quota: 2 }];
  const { reserved } = await store.cycle({ ...nothing, slots: [0, 1], channels });
  const [first, second] = reserved.map(({ token }) => token) as [string, string];
  await store.cycle({
    ...nothing,
    settlements: [
      { slot: 0, token: first, jobId: "a", outcome: "ack" },
      { slot: 1, token: second, jobId: "b", outcome: "retry", delaySeconds: 1, payload: ownEnvelope("b") },
    ],
  });
  await store.close();
  const database = new Database(join(folder.path, "jobs.sqlite"));
  database.run("DELETE FROM ready WHERE id = 'c'"); // which nobody claimed
  database.close();
  const { steps, doubled } = await historian.read();
  const way = (id: string) =>
    steps.filter((step) => step.id === id).map(({ from, to, token }) => `${from} ${to} ${token}`);
  expect(way("a")).toEqual([
    "undefined ready undefined",
    `ready claimed ${first}`,
    `claimed undefined ${first}`,
  ]);
  expect(way("b")).toEqual([
    "undefined ready undefined",
    `ready claimed ${second}`,
    `claimed retrying ${second}`,
  ]);
  expect(way("c")).toEqual(["undefined ready undefined", "ready undefined undefined"]);
  expect(doubled).toEqual([]);
  for (const { doneBy } of steps) expect(Math.abs((doneBy ?? 0) - Date.now())).toBeLessThan(60_000);
});
