import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { RedisServer } from "../support/redis-server.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";
import { type Answer, type GatewayProcess, LineClient, startGateway } from "./harness.ts";

let folder: TemporaryFolder;
let redis: RedisServer;
let gateway: GatewayProcess;
let client: LineClient;

beforeEach(async () => {
  folder = temporaryFolder();
  redis = await RedisServer.start({ appendOnly: "always" });
  gateway = await startGateway(join(folder.path, "gateway.sock"), redis.url);
  client = await LineClient.connect(gateway.socket);
});
afterEach(async () => {
  client.close();
  await gateway.stop();
  await redis.stop();
  folder[Symbol.dispose]();
});

const connectionError = (message: RegExp) => ({
  status: "ERROR",
  error: { class: "SolidRedis::ConnectionError", message: expect.stringMatching(message) },
});

/** The first answer that is no error. */
async function untilOk(request: unknown): Promise<Answer> {
  let answer: Answer = { status: "ERROR" };
  await until(async () => {
    answer = await client.ask(request);
    return answer.status === "OK";
  });
  return answer;
}

describe("a Redis that is lost", () => {
  test("is an ERROR while it is away, and the same connection goes on when it is back", async () => {
    expect(await client.command("SET", "a", "x")).toEqual({ status: "OK", data: "OK" });
    await redis.kill();
    expect(await client.command("GET", "a")).toMatchObject(connectionError(/^no connection to redis:\/\//));
    expect(await client.command("GET", "a")).toMatchObject(connectionError(/^no connection to redis:\/\//));
    await redis.restart();
    expect(await untilOk({ command: "GET", args: ["a"] })).toEqual({ status: "OK", data: "x" });
  });

  test("fails the command under way, which is not sent again", async () => {
    const waiting = client.command("BRPOP", "queue", 0);
    await until(async () => String(await redis.send("INFO", "clients")).includes("blocked_clients:1"));
    await redis.restart();
    expect(await waiting).toMatchObject(connectionError(/whether the command ran is not known$/));
    expect(await untilOk({ command: "LPUSH", args: ["queue", "job"] })).toEqual({ status: "OK", data: 1 });
    expect(await client.command("RPOP", "queue")).toEqual({ status: "OK", data: "job" });
  });

  test("fails each command of the pipeline under way", async () => {
    const waiting = client.ask({
      pipeline: [
        ["INCR", "n"],
        ["BRPOP", "queue", 0],
        ["INCR", "n"],
      ],
    });
    await until(async () => String(await redis.send("INFO", "clients")).includes("blocked_clients:1"));
    await redis.restart();
    const { error } = connectionError(/whether the command ran is not known$/);
    expect(await waiting).toMatchObject({ status: "ERROR", error, data: [1, { error }, { error }] } as never);
    expect(await untilOk({ command: "GET", args: ["n"] })).toEqual({ status: "OK", data: "1" });
  });

  test("takes a transaction with it: what was meant for it does not run outside of it", async () => {
    expect((await client.command("MULTI")).data).toBe("OK");
    expect((await client.command("SET", "a", "inside")).data).toBe("QUEUED");
    await redis.restart();
    const begun = /^the connection on which MULTI or WATCH was sent is lost/;
    let answer = await client.command("SET", "b", "outside");
    while (!begun.test(answer.error?.message ?? "")) {
      expect(answer).toMatchObject(connectionError(/^no connection/));
      answer = await client.command("SET", "b", "outside");
    }
    expect(await client.command("MGET", "a", "b")).toEqual({ status: "OK", data: [null, null] });
    expect(await client.command("EXEC")).toMatchObject({
      status: "ERROR",
      error: { class: "SolidRedis::CommandError", message: "ERR EXEC without MULTI" },
    });
  });
});
