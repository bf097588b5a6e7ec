import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Program } from "../support/program.ts";
import { RedisServer } from "../support/redis-server.ts";

const examples = join(import.meta.dir, "..", "..", "examples");
const cli = join(import.meta.dir, "..", "..", "bin", "solid-jobs.ts");
let redis: RedisServer;

beforeAll(async () => {
  redis = await RedisServer.start();
});
afterAll(() => redis.stop());

/** Each program with keys of its own on the one server. */
function start(prefix: string, ...args: string[]): Program {
  return Program.start([process.execPath, ...args], {
    env: { REDIS_URL: redis.socketUrl, SOLID_JOBS_PREFIX: `${prefix}:`, PORT: "0" },
  });
}

describe("examples/first-task", () => {
  test("publishes a job that a node then runs", async () => {
    const folder = join(examples, "first-task");
    const publisher = start("first", join(folder, "publish.ts"));
    expect(await publisher.exited).toBe(0);
    expect(publisher.output).toMatch(/^published [0-9a-f-]{36}\n$/);
    const node = start("first", cli, "-r", join(folder, "jobs.ts"), "-c", "1");
    await node.said("Hello, world!");
    expect(await node.end("SIGTERM")).toBe(0);
  });
});

describe("examples/retries", () => {
  test("retries until it succeeds, and archives what fails for good", async () => {
    const program = start("retries", join(examples, "retries", "main.ts"));
    expect(await program.exited).toBe(0);
    expect(program.output.trim().split("\n").sort()).toEqual([
      "archived: ChargeCard after 1 failures",
      "archived: SendInvoice after 2 failures",
      "gave up on invoice 42: the mail server refused invoice 42",
      "not charged: card 4242 is expired",
      "prices of corner-shop fetched at attempt 3",
    ]);
  });
});

describe("examples/scheduling", () => {
  test("runs both jobs in their order and not before their time", async () => {
    const program = start("scheduling", join(examples, "scheduling", "main.ts"));
    expect(await program.exited).toBe(0);
    expect(program.output.trim().split("\n")).toEqual([
      "planned: 2",
      "half a second has passed (on time or later)",
      "a second has passed (on time or later)",
    ]);
  });
});

describe("examples/publish-only", () => {
  test("answers with the id of a job that a node elsewhere runs", async () => {
    const server = start("publish", join(examples, "publish-only", "server.ts"));
    const [, url = ""] = await server.said(/listening on (\S+)/);
    const body = JSON.stringify({ path: "cat.png", width: 200 });
    const response = await fetch(new URL("/resize", url), { method: "POST", body });
    expect(response.status).toBe(202);
    expect(await response.json()).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    const node = start("publish", cli, "-r", join(examples, "publish-only", "jobs.ts"), "-c", "1");
    await node.said("resizing cat.png to 200");
    expect(await node.end("SIGTERM")).toBe(0);
    await server.end("SIGTERM");
  });
});

describe("examples/node-in-app", () => {
  test("runs the jobs of its own requests and stops cleanly", async () => {
    const app = start("in-app", join(examples, "node-in-app", "app.ts"));
    const [, url = ""] = await app.said(/listening on (\S+)/);
    const response = await fetch(new URL("/primes/100", url), { method: "POST" });
    expect(response.status).toBe(200);
    await app.said("25 primes up to 100");
    expect(await app.end("SIGTERM")).toBe(0);
  });
});
