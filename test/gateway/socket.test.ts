import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RedisServer } from "../support/redis-server.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { LineClient, spawnGateway, startGateway } from "./harness.ts";

let redis: RedisServer;
let folder: TemporaryFolder;
let socket: string;

beforeAll(async () => {
  redis = await RedisServer.start();
});
afterAll(() => redis.stop());
beforeEach(() => {
  folder = temporaryFolder();
  socket = join(folder.path, "gateway.sock");
});
afterEach(() => folder[Symbol.dispose]());

const mode = (path: string) => (statSync(path).mode & 0o7777).toString(8);

async function answers(path: string): Promise<unknown> {
  const client = await LineClient.connect(path);
  const { data } = await client.command("PING");
  client.close();
  return data;
}

/** One clear line on standard error, status 1, and nothing that listens. */
async function expectRefusal(args: readonly string[], message: string, env?: Record<string, string>) {
  const run = spawnGateway(args, env);
  const [status, stderr] = await Promise.all([run.exited, new Response(run.stderr).text()]);
  expect({ status, stderr }).toEqual({ status: 1, stderr: `solid-jobs: ${message}\n` });
}

describe("the socket", () => {
  test("is for its user alone, as are the directories made for it", async () => {
    const path = join(folder.path, "a", "b", "gateway.sock");
    const gateway = await startGateway(path, redis.url);
    expect([mode(path), mode(join(folder.path, "a", "b")), mode(join(folder.path, "a"))]).toEqual([
      "600",
      "700",
      "700",
    ]);
    expect(await answers(path)).toBe("PONG");
    expect(gateway.log.filter(({ level }) => level === "warn")).toEqual([]);
    await gateway.stop();
  });

  test("in a directory that others may look into comes with a warning", async () => {
    chmodSync(folder.path, 0o755);
    const gateway = await startGateway(socket, redis.url);
    expect(gateway.log[0]).toMatchObject({ level: "warn", directory: folder.path, mode: "0755" });
    expect(mode(socket)).toBe("600");
    await gateway.stop();
  });

  test("is refused in a directory that others may write to", async () => {
    chmodSync(folder.path, 0o770);
    await expectRefusal(
      ["--socket", socket, "--redis-url", redis.url],
      `flag --socket: ${folder.path}: others may write to the directory (its mode is 0770): make it 0700, or choose another one`,
    );
  });

  test("left behind by a killed gateway is replaced", async () => {
    const first = await startGateway(socket, redis.url);
    first.process.kill("SIGKILL");
    await first.process.exited;
    expect(existsSync(socket)).toBe(true);
    const second = await startGateway(socket, redis.url);
    expect(await answers(socket)).toBe("PONG");
    await second.stop();
    expect(existsSync(socket)).toBe(false);
  });

  test("of a live gateway is refused to a second one and goes on", async () => {
    const first = await startGateway(socket, redis.url);
    await expectRefusal(
      ["--socket", socket, "--redis-url", redis.url],
      `flag --socket: ${socket}: another program listens there: stop it, or choose another path`,
    );
    expect(await answers(socket)).toBe("PONG");
    await first.stop();
  });

  test("does not take the place of a file", async () => {
    writeFileSync(socket, "mine");
    await expectRefusal(
      ["--socket", socket, "--redis-url", redis.url],
      `flag --socket: ${socket}: there is a file that is no socket: choose another path, or remove it`,
    );
    expect(readFileSync(socket, "utf8")).toBe("mine");
  });

  test("has a path that fits", async () => {
    const long = join(folder.path, "x".repeat(100));
    await expectRefusal(
      ["--socket", long, "--redis-url", redis.url],
      `flag --socket: ${long}: it takes ${long.length} bytes, a socket's path at most 103: choose a shorter one`,
    );
  });

  test("needs a directory", async () => {
    writeFileSync(join(folder.path, "file"), "");
    const run = spawnGateway(["--socket", join(folder.path, "file", "g.sock"), "--redis-url", redis.url]);
    expect(await run.exited).toBe(1);
    expect(await new Response(run.stderr).text()).toMatch(
      /^solid-jobs: flag --socket: .*\/file: the directory cannot be made or read \(E.*\)\n$/,
    );
  });
});

describe("the gateway's end", () => {
  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "comes with %s: status 0 and no socket",
    async (signal) => {
      const gateway = await startGateway(socket, redis.url);
      const client = await LineClient.connect(socket);
      expect((await client.command("PING")).data).toBe("PONG");
      gateway.process.kill(signal);
      expect(await client.line()).toBeUndefined();
      expect(await gateway.process.exited).toBe(0);
      expect(existsSync(socket)).toBe(false);
      expect(gateway.log.at(-1)).toMatchObject({ message: "gateway stopping", reason: signal });
    },
  );

  test("comes with the end of standard input", async () => {
    const gateway = await startGateway(socket, redis.url);
    gateway.process.stdin.write("anything\n");
    await gateway.process.stdin.flush();
    expect(await answers(socket)).toBe("PONG");
    await gateway.process.stdin.end();
    expect(await gateway.process.exited).toBe(0);
    expect(existsSync(socket)).toBe(false);
  });

  test("does not come with the end of standard input under --keep-running", async () => {
    const gateway = await startGateway(socket, redis.url, ["--keep-running"]);
    await gateway.process.stdin.end();
    const client = await LineClient.connect(socket);
    // A command that waits: the gateway has had the time to see that its input ended.
    expect(await client.command("BRPOP", "nothing", 0.3)).toEqual({ status: "OK", data: null });
    expect(await gateway.stop()).toBe(0);
  });

  test("does not wait for a blocking command", async () => {
    const gateway = await startGateway(socket, redis.url);
    const client = await LineClient.connect(socket);
    client.write('{"command":"ECHO","args":["a"]}\n{"command":"BRPOP","args":["nothing",0]}\n');
    expect((await client.answer()).data).toBe("a");
    const start = performance.now();
    expect(await gateway.stop()).toBe(0);
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(await client.line()).toBeUndefined();
  });
});

describe("the command line", () => {
  const url = () => ["--redis-url", redis.url];

  test("needs --socket", async () => {
    await expectRefusal(url(), "required option '--socket <path>' not specified (see solid-jobs --help)");
  });

  test("refuses what the gateway has no use for", async () => {
    const args = ["--socket", socket, ...url()];
    await expectRefusal(
      [...args, "--keep-runing"],
      "unknown option '--keep-runing' (did you mean --keep-running?) (see solid-jobs --help)",
    );
    await expectRefusal(
      [...args, "-c", "2"],
      "the gateway has no use for --concurrency (see solid-jobs gateway --help)",
    );
    await expectRefusal(
      [...args, "more"],
      "too many arguments for 'gateway'. Expected 0 arguments but got 1. (see solid-jobs --help)",
    );
    await expectRefusal(
      [...args, "--resp", "4"],
      "option '--resp <version>' argument '4' is invalid. Allowed choices are 2, 3. (see solid-jobs --help)",
    );
  });

  test("refuses a store that is no Redis", async () => {
    const run = spawnGateway(["--socket", socket]);
    expect(await run.exited).toBe(1);
    expect(await new Response(run.stderr).text()).toMatch(
      /^solid-jobs: the gateway serves Redis: expected its URL in /,
    );
    await expectRefusal(
      ["--socket", socket, "--url", "sqlite:/jobs.sqlite"],
      "the gateway serves Redis: expected its URL in --url, SOLID_JOBS_URL, the file's url or REDIS_URL, got sqlite:/jobs.sqlite",
    );
    expect(existsSync(socket)).toBe(false);
  });

  test("refuses a Redis that is not there, and makes no socket", async () => {
    const run = spawnGateway(["--socket", socket, "--url", "redis://127.0.0.1:1"]);
    expect(await run.exited).toBe(1);
    expect(await new Response(run.stderr).text()).toMatch(
      /^solid-jobs: no connection to redis:\/\/127\.0\.0\.1:1: /,
    );
    expect(existsSync(socket)).toBe(false);
  });

  test("takes the URL from the environment and the config file", async () => {
    const path = folder.write("solid-jobs.toml", `url = "${redis.url}"\n`);
    for (const [args, env] of [
      [["--socket", socket, "-C", path], {}],
      [["--socket", socket], { SOLID_JOBS_URL: redis.url, SOLID_JOBS_GATEWAY_SOCKET: socket }],
    ] as const) {
      const run = spawnGateway(args, env);
      run.stdin.end();
      expect([await run.exited, await new Response(run.stderr).text()]).toEqual([0, ""]);
    }
  });

  test("has a help of its own", async () => {
    const run = spawnGateway(["--help"]);
    const help = await new Response(run.stdout).text();
    expect(await run.exited).toBe(0);
    for (const flag of [
      "--socket <path>",
      "--keep-running",
      "--resp <version>",
      "--redis-url <url>",
      "-C, --config",
    ]) {
      expect(help).toContain(flag);
    }
  });
});
