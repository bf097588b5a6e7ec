import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RedisServer } from "../support/redis-server.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";
import { type GatewayProcess, LineClient, startGateway } from "./harness.ts";

let folder: TemporaryFolder;
let redis: RedisServer;
let gateway: GatewayProcess;
let client: LineClient;

beforeAll(async () => {
  folder = temporaryFolder();
  redis = await RedisServer.start();
  gateway = await startGateway(join(folder.path, "gateway.sock"), redis.url);
});
afterAll(async () => {
  await gateway.stop();
  await redis.stop();
  folder[Symbol.dispose]();
});
beforeEach(async () => {
  await redis.send("FLUSHALL");
  client = await LineClient.connect(gateway.socket);
});
afterEach(() => client.close());

/** Every refusal leaves the connection as good as before. */
async function expectRefusal(name: string, message: RegExp) {
  const { status, error } = await client.answer();
  expect({ status, name: error?.class }).toEqual({ status: "ERROR", name });
  expect(error?.message).toMatch(message);
  expect(await client.command("PING")).toEqual({ status: "OK", data: "PONG" });
}

describe("a request", () => {
  test("with a command gets its reply", async () => {
    expect(await client.command("RPOP", "queue")).toEqual({ status: "OK", data: null });
    expect(await client.command("lpush", "queue", "a", "ü\n\0")).toEqual({ status: "OK", data: 2 });
    expect(await client.command("LRANGE", "queue", 0, -1)).toEqual({ status: "OK", data: ["ü\n\0", "a"] });
    expect(await client.ask({ command: "PING" })).toEqual({ status: "OK", data: "PONG" });
  });

  test("with a pipeline gets a list of replies", async () => {
    expect(await client.ask({ pipeline: [["SET", "a", 1], ["INCR", "a"], ["PING"]] })).toEqual({
      status: "OK",
      data: ["OK", 2, "PONG"],
    });
    expect(await client.ask({ pipeline: [] })).toEqual({ status: "OK", data: [] });
  });

  test("carries numbers in the digits they were written in", async () => {
    client.write('{"command":"RPUSH","args":["n",1.0,12345678901234567890,-2.50e3,7]}\n');
    expect(await client.answer()).toEqual({ status: "OK", data: 4 });
    client.write('{"pipeline":[["RPUSH","n",98765432109876543210]]}\n');
    expect(await client.answer()).toEqual({ status: "OK", data: [5] });
    expect(await redis.send("LRANGE", "n", 0, -1)).toEqual([
      "1.0",
      "12345678901234567890",
      "-2.50e3",
      "7",
      "98765432109876543210",
    ]);
  });

  test("that Redis refuses gets Redis's text", async () => {
    await client.command("SET", "text", "x");
    expect(await client.command("LPUSH", "text", "y")).toEqual({
      status: "ERROR",
      error: {
        class: "SolidRedis::CommandError",
        message: "WRONGTYPE Operation against a key holding the wrong kind of value",
      },
    });
    expect(await client.command("GET", "text")).toEqual({ status: "OK", data: "x" });
  });

  test("with a failing command in a pipeline is an ERROR that tells what came of each command", async () => {
    const error = { class: "SolidRedis::CommandError", message: expect.stringMatching(/^WRONGTYPE /) };
    expect(
      await client.ask({
        pipeline: [
          ["SET", "t", "x"],
          ["LPUSH", "t", "y"],
          ["INCR", "n"],
        ],
      }),
    ).toEqual({ status: "ERROR", error, data: ["OK", { error }, 1] } as never);
  });

  test("can be a step of a transaction", async () => {
    expect((await client.command("MULTI")).data).toBe("OK");
    expect((await client.command("SET", "a", "x")).data).toBe("QUEUED");
    expect((await client.command("INCR", "a")).data).toBe("QUEUED");
    expect(await redis.send("GET", "a")).toBeNull();
    const error = {
      class: "SolidRedis::CommandError",
      message: "ERR value is not an integer or out of range",
    };
    expect(await client.command("EXEC")).toEqual({ status: "OK", data: ["OK", { error }] });
  });

  test.each([
    ["", /^expected one JSON object a line/],
    ['{"command":"PING"', /^expected one JSON object a line.*got "\{\\"command\\":\\"PING\\""/],
    ["PING", /^expected one JSON object a line/],
    ["[".repeat(100_000), /^expected one JSON object a line/],
  ])("that is no JSON is refused: %#", async (line, message) => {
    client.write(`${line}\n`);
    await expectRefusal("JSON::ParserError", message);
  });

  test("that is not UTF-8 is refused", async () => {
    client.write(Buffer.from('{"command":"SET","args":["a","\xff"]}\n', "latin1"));
    await expectRefusal("JSON::ParserError", /^expected a line of UTF-8/);
    expect(await redis.send("EXISTS", "a")).toBe(0);
  });

  test.each([
    ["[]", "got a list"],
    ["null", "got null"],
    ["{}", "got neither command nor pipeline"],
    ['{"command":["PING"]}', "got a command that is a list"],
    ['{"command":" "}', "got an empty command"],
    ['{"command":"GET","args":"a"}', "got args that are a text"],
    ['{"command":"GET","args":{"0":"a"}}', "got args that are an object"],
    ['{"command":"PING","pipeline":[]}', "got both command and pipeline"],
    ['{"pipeline":[["SET","done","x"],"GET"]}', "got pipeline[1] that is a text"],
    ['{"pipeline":[[]]}', "got pipeline[0] without a command's name"],
    ['{"pipeline":{"a":1}}', "got a pipeline that is an object"],
    ['{"command":"SET","args":["done",null]}', "arguments of SET, got null in args"],
    ['{"command":"SET","args":["done",true]}', "arguments of SET, got a boolean in args"],
    ['{"pipeline":[["SET","done",["x"]]]}', "arguments of SET, got a list in pipeline[0]"],
    ['{"command":"SET","args":["done","\\udc80"]}', "half of a surrogate pair in args"],
  ])("of an unknown shape is refused: %s", async (line, got) => {
    client.write(`${line}\n`);
    const { status, error } = await client.answer();
    expect({ status, name: error?.class }).toEqual({ status: "ERROR", name: "ArgumentError" });
    expect(error?.message).toContain(got);
    expect(await redis.send("EXISTS", "done")).toBe(0);
    expect(await client.command("PING")).toEqual({ status: "OK", data: "PONG" });
  });

  test.each(["SUBSCRIBE", "psubscribe", "MONITOR", "SYNC", "SELECT", "AUTH", "HELLO", "QUIT", "RESET"])(
    "with %s, which would change what the connection is, is refused",
    async (name) => {
      client.write(`${JSON.stringify({ command: name, args: ["1"] })}\n`);
      await expectRefusal("ArgumentError", new RegExp(`^the gateway does not carry ${name.toUpperCase()}:`));
    },
  );

  test("that would leave requests without replies is refused", async () => {
    client.write('{"pipeline":[["CLIENT","reply","OFF"]]}\n');
    await expectRefusal("ArgumentError", /^the gateway does not carry CLIENT REPLY:/);
  });

  test("of many megabytes is carried", async () => {
    const size = 6 * 1024 * 1024;
    expect((await client.command("SET", "big", "x".repeat(size))).data).toBe("OK");
    expect((await client.command("STRLEN", "big")).data).toBe(size);
    expect(String((await client.command("GET", "big")).data).length).toBe(size);
  });

  test("over 64 MiB is skipped without being kept, in its turn", async () => {
    const chunk = Buffer.alloc(1024 * 1024, "x");
    client.write('{"command":"SET","args":["before",1]}\n{"command":"SET","args":["huge","');
    for (let i = 0; i < 512; i += 1) {
      if (!client.socket.write(chunk)) await new Promise((resolve) => client.socket.once("drain", resolve));
    }
    client.write('"]}\n');
    expect(await client.answer()).toEqual({ status: "OK", data: "OK" });
    await expectRefusal("ArgumentError", /^expected a line of at most 67108864 bytes \(64 MiB\)/);
    expect(await redis.send("EXISTS", "huge")).toBe(0);
    expect(peakMiB(gateway.process.pid)).toBeLessThan(512);
  });
});

describe("clients", () => {
  test("get their answers in the order of their requests, also when they send without waiting", async () => {
    const count = 500;
    const requests = Array.from({ length: count }, (_, i) =>
      i % 3 === 0
        ? { command: "ECHO", args: [i] }
        : i % 3 === 1
          ? { pipeline: [["ECHO", i]] }
          : { command: "NOSUCH", args: [`n${i}`] },
    );
    client.write(requests.map((request) => `${JSON.stringify(request)}\n`).join(""));
    for (let i = 0; i < count; i += 1) {
      const { status, data, error } = await client.answer();
      if (i % 3 === 2)
        expect({ status, text: error?.message.includes(`'n${i}'`) }).toEqual({ status: "ERROR", text: true });
      else expect({ status, data }).toEqual({ status: "OK", data: i % 3 === 0 ? `${i}` : [`${i}`] });
    }
  });

  test("do not wait for another's blocking command, and wake it", async () => {
    const blocked = client.command("BLMOVE", "queue", "held", "RIGHT", "LEFT", 0);
    await until(async () => (await blockedClients()) === 1);
    const other = await LineClient.connect(gateway.socket);
    expect(await other.command("PING")).toEqual({ status: "OK", data: "PONG" });
    expect(await other.command("LPUSH", "queue", "job")).toEqual({ status: "OK", data: 1 });
    expect(await blocked).toEqual({ status: "OK", data: "job" });
    other.close();
  });

  test("have a Redis connection each", async () => {
    const clients = await Promise.all(Array.from({ length: 100 }, () => LineClient.connect(gateway.socket)));
    const ids = await Promise.all(clients.map((each) => each.command("CLIENT", "ID")));
    expect(new Set(ids.map(({ data }) => data)).size).toBe(100);
    for (const each of clients) each.close();
    await until(async () => (await connectedClients()) < 10);
  });

  test("that vanish while they wait take nothing with them", async () => {
    const other = await LineClient.connect(gateway.socket);
    other.write('{"command":"BRPOP","args":["queue",0]}\n');
    await until(async () => (await blockedClients()) === 1);
    other.close();
    await until(async () => (await blockedClients()) === 0);
    await client.command("LPUSH", "queue", "job");
    expect(await client.command("RPOP", "queue")).toEqual({ status: "OK", data: "job" });
  });

  test("that send no more are answered before they are let go", async () => {
    client.write('{"command":"ECHO","args":["a"]}\n{"command":"ECHO","args":["b"]}\n{"command":"SET"');
    client.socket.end();
    expect([await client.line(), await client.line(), await client.line()]).toEqual([
      '{"status":"OK","data":"a"}',
      '{"status":"OK","data":"b"}',
      undefined,
    ]);
  });

  test("that do not read are not worked for, and hold up nobody", async () => {
    await redis.send("SET", "big", "x".repeat(1024 * 1024));
    await redis.send("CONFIG", "RESETSTAT");
    client.socket.pause();
    for (let i = 0; i < 40; i += 1) client.write('{"command":"GET","args":["big"]}\n');
    const other = await LineClient.connect(gateway.socket);
    await until(async () => (await getCalls()) > 0);
    for (let i = 0; i < 50; i += 1) expect((await other.command("PING")).data).toBe("PONG");
    expect(await getCalls()).toBeLessThan(20);
    client.socket.resume();
    for (let i = 0; i < 40; i += 1) expect(String((await client.answer()).data).length).toBe(1024 * 1024);
    expect(await getCalls()).toBe(40);
    other.close();
  });
});

describe("the shapes of replies", () => {
  const fill = async () => {
    await redis.send("HSET", "hash", "b", "1", "2", "x");
    await redis.send("ZADD", "zset", "1.5", "m", "inf", "top");
    await redis.send("SADD", "set", "a");
  };
  const shapes = async (path: string) => {
    const own = await LineClient.connect(path);
    const names = [
      ["HGETALL", "hash"],
      ["ZRANGE", "zset", "0", "-1", "WITHSCORES"],
      ["SMEMBERS", "set"],
      ["GET", "no"],
    ];
    const { data } = await own.ask({ pipeline: names });
    own.close();
    return data;
  };

  test("are lists and texts", async () => {
    await fill();
    expect(await shapes(gateway.socket)).toEqual([
      ["b", "1", "2", "x"],
      ["m", "1.5", "top", "inf"],
      ["a"],
      null,
    ]);
  });

  test("have maps and doubles with --resp 3", async () => {
    await fill();
    const third = await startGateway(join(folder.path, "third.sock"), redis.url, ["--resp", "3"]);
    expect(await shapes(third.socket)).toEqual([
      { b: "1", "2": "x" },
      [
        ["m", 1.5],
        ["top", "inf"],
      ],
      ["a"],
      null,
    ]);
    expect(await third.stop()).toBe(0);
  });
});

function peakMiB(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

async function info(section: string, field: RegExp): Promise<number> {
  return Number(field.exec(String(await redis.send("INFO", section)))?.[1] ?? 0);
}

const blockedClients = () => info("clients", /blocked_clients:(\d+)/);
const connectedClients = () => info("clients", /connected_clients:(\d+)/);
const getCalls = () => info("commandstats", /cmdstat_get:calls=(\d+)/);
