import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StoreError, StoreFull, StoreUnavailable, StoreUnsuitable } from "../../../src/foundation/errors.ts";
import { randomHex } from "../../../src/foundation/ids.ts";
import { redisAddress, withoutCredentials } from "../../../src/store/redis/address.ts";
import { RedisConnection } from "../../../src/store/redis/connection.ts";
import { scripts } from "../../../src/store/redis/scripts.ts";
import { RedisStore, type RedisStoreOptions } from "../../../src/store/redis/store.ts";
import { RedisServer } from "../../support/redis-server.ts";
import { bulk, helloReply, RedisStub } from "../../support/redis-stub.ts";
import { aWorker, cycle, idsOf, job, jobs, settle } from "../conformance/harness.ts";
import { redisHarness } from "./harness.ts";

const options = { prefix: "solid_jobs:", allowEviction: false, discardedLimit: 100, discardedRetention: 1 };

/** Opens a store and closes it; gives the report, or the error. */
async function opening(url: string, more: Partial<RedisStoreOptions> = {}) {
  const store = new RedisStore({ url, ...options, ...more });
  try {
    return await store.open();
  } catch (error) {
    return error as Error & { code?: string };
  } finally {
    await store.close();
  }
}

async function withServer<T>(args: readonly string[], body: (server: RedisServer) => Promise<T>): Promise<T> {
  const server = await RedisServer.start({ args });
  try {
    return await body(server);
  } finally {
    await server.stop();
  }
}

async function failure(promise: Promise<unknown>): Promise<Error & { isSent?: boolean }> {
  return promise.then(
    () => {
      throw new Error("expected a failure");
    },
    (error) => error,
  );
}

describe("opening", () => {
  test("a server with a password: without one, with a wrong one and with the right one", async () => {
    await withServer(["--requirepass", "sec/ret@x"], async ({ url }) => {
      const without = await opening(url);
      expect(without).toMatchObject({
        code: "AUTHENTICATION",
        message: expect.stringContaining("wants a password"),
      });
      for (const credentials of [":wrong", "nobody:wrong"]) {
        const wrong = await opening(url.replace("//", `//${credentials}@`));
        expect(wrong).toBeInstanceOf(StoreUnsuitable);
        expect(String(wrong)).toContain("refused the user name or password");
        expect(String(wrong)).not.toContain("wrong");
      }
      expect(await opening(url.replace("//", "//:sec%2Fret%40x@"))).toMatchObject({ warnings: [] });
    });
  });

  test("a server that is not there, a host that is unknown, a socket that does not exist", async () => {
    for (const url of [
      "redis://127.0.0.1:1",
      "redis://no-such-host.invalid:6379",
      "redis+unix:///nonexistent.sock",
    ]) {
      const error = await opening(url);
      expect(error).toBeInstanceOf(StoreUnavailable);
      expect(error).toMatchObject({
        isSent: false,
        message: expect.stringContaining(`no connection to ${url}`),
      });
    }
  });

  test("a database by its index, and one that does not exist", async () => {
    await withServer(["--databases", "4"], async (server) => {
      const store = new RedisStore({ url: `${server.url}/3`, ...options });
      await store.open();
      await store.publish([job()]);
      await store.close();
      const client = await server.client(`${server.url}/3`);
      expect(await client.send("LLEN", ["solid_jobs:channel:default"])).toBe(1);
      client.close();
      expect(await server.send("DBSIZE")).toBe(0);
      expect(await opening(`${server.url}/4`)).toMatchObject({ code: "DATABASE_INDEX" });
    });
  });

  test("a Unix socket by its URL", async () => {
    await withServer([], async ({ socketUrl }) => {
      const store = new RedisStore({ url: socketUrl, ...options });
      await store.open();
      await store.publish([job({ id: "a" })]);
      const worker = await aWorker(store);
      expect(idsOf(await cycle(store, worker, { slots: 1 }))).toEqual(["a"]);
      await store.close();
    });
  });

  test("a server in Cluster mode is refused", async () => {
    await withServer(["--cluster-enabled", "yes"], async ({ url }) => {
      const error = await opening(url);
      expect(error).toBeInstanceOf(StoreUnsuitable);
      expect(error).toMatchObject({ code: "CLUSTER_MODE" });
    });
  });

  test("a policy that evicts any key is refused unless allowed; one that evicts expiring keys is warned of", async () => {
    await withServer([], async (server) => {
      for (const policy of ["allkeys-lru", "allkeys-lfu", "allkeys-random"]) {
        await server.send("CONFIG", "SET", "maxmemory-policy", policy);
        expect(await opening(server.url)).toMatchObject({
          code: "EVICTION_POLICY",
          message: expect.stringContaining(policy),
        });
        const allowed = await opening(server.url, { allowEviction: true });
        expect(allowed).toMatchObject({ warnings: [expect.stringContaining(policy)] });
      }
      for (const policy of ["volatile-lru", "volatile-ttl"]) {
        await server.send("CONFIG", "SET", "maxmemory-policy", policy);
        expect(await opening(server.url)).toMatchObject({ warnings: [expect.stringContaining(policy)] });
      }
      await server.send("CONFIG", "SET", "maxmemory-policy", "noeviction");
      expect(await opening(server.url)).toMatchObject({
        warnings: [],
        version: expect.stringMatching(/^redis \d/),
      });
    });
  });

  test.each([
    ["5.0.14", undefined],
    ["6.0.20", helloReply("6.0.20")],
    ["6.1.241", helloReply("6.1.241")],
  ])("Redis %s is refused as too old", async (version, hello) => {
    const stub = new RedisStub(([command]) => {
      if (command === "HELLO")
        return hello ?? "-ERR unknown command `HELLO`, with args beginning with: `3`, \r\n";
      if (command === "INFO") return bulk(`redis_version:${version}\r\nmaxmemory_policy:noeviction\r\n`);
      return "+OK\r\n";
    });
    try {
      const error = await opening(stub.url);
      expect(error).toMatchObject({
        code: "SERVER_TOO_OLD",
        message: expect.stringContaining("6.2 or later"),
      });
      expect(error).toBeInstanceOf(StoreUnsuitable);
    } finally {
      stub.stop();
    }
  });

  test("an ACL user who may only touch the prefix's keys, without INFO and CONFIG, is enough", async () => {
    await withServer([], async (server) => {
      const rules = ["on", ">pw", "~solid_jobs:*", "+@all", "-@admin", "-@dangerous", "-info", "-config"];
      await server.send("ACL", "SETUSER", "jobs", ...rules);
      const store = new RedisStore({ url: server.url.replace("//", "//jobs:pw@"), ...options });
      const report = await store.open();
      expect(report.warnings).toEqual([expect.stringContaining("may not use INFO")]);
      const worker = await aWorker(store);
      const given = jobs(3);
      await store.publish([...given, job({ due: { atSeconds: 1 } })]);
      const { reserved } = await cycle(store, worker, { slots: 3 });
      expect(await store.claimedBytes(worker, reserved[0]!)).toEqual(
        new Uint8Array(Buffer.from(given[0]!.payload)),
      );
      await cycle(store, worker, {
        settlements: reserved.slice(0, 2).map((each) => settle(each, { outcome: "ack" })),
      });
      expect(await store.promoteDue()).toMatchObject({ planned: 1 });
      await store.beat(worker.node, { busy: 0, isQuiet: false, isNewServer: false });
      await store.showRunning(worker, []);
      expect(await store.serverIdentity()).toBe("");
      expect((await store.sightNodes()).nodes).toHaveLength(1);
      await store.sightOrphans();
      const waiter = store.waiter("default");
      expect(await waiter.wait(1000)).toBe("ready");
      waiter.close();
      expect(await store.leave(worker.node)).toEqual({ requeued: 1 });
      await store.close();
    });
  });

  test("an ACL user without the prefix's keys gets told what is missing", async () => {
    await withServer([], async (server) => {
      await server.send("ACL", "SETUSER", "jobs", "on", ">pw", "~other:*", "+@all");
      const store = new RedisStore({ url: server.url.replace("//", "//jobs:pw@"), ...options });
      const error = await failure(store.publish([job()]));
      expect(error).toBeInstanceOf(StoreError);
      expect(error.message).toContain("~<prefix>*");
      await store.close();
    });
  });

  test("a server that accepts and says nothing is given up after 5 s", async () => {
    const stub = new RedisStub(() => undefined);
    try {
      const startedAt = performance.now();
      expect(await opening(stub.url)).toBeInstanceOf(StoreUnavailable);
      expect(performance.now() - startedAt).toBeLessThan(7000);
    } finally {
      stub.stop();
    }
  }, 15_000);
});

describe("TLS", () => {
  const folder = join(tmpdir(), `solid-jobs-tls-${randomHex(4)}`);
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  let server: RedisServer;
  let tlsUrl: string;
  beforeAll(async () => {
    await Bun.$`mkdir -p ${folder}`;
    await Bun.$`openssl req -x509 -newkey rsa:2048 -nodes -keyout ${key} -out ${certificate} -days 1 -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1`.quiet();
    const tls = ["--tls-cert-file", certificate, "--tls-key-file", key, "--tls-ca-cert-file", certificate];
    const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const port = listener.port;
    listener.stop(true);
    server = await RedisServer.start({
      args: ["--tls-port", String(port), "--tls-auth-clients", "no", ...tls],
    });
    tlsUrl = `rediss://127.0.0.1:${port}`;
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("a certificate of our own authority is accepted with tlsCa, as a path and as text", async () => {
    const text = await Bun.file(certificate).text();
    for (const tlsCa of [certificate, text])
      expect(await opening(tlsUrl, { tlsCa })).toMatchObject({ warnings: [] });
  });

  test("is refused without it, with what to do", async () => {
    const error = await opening(tlsUrl);
    expect(error).toBeInstanceOf(StoreUnsuitable);
    expect(error).toMatchObject({ code: "TLS", message: expect.stringContaining("set tls_ca") });
  });

  test("a certificate file that does not exist is a configuration error that names it", () => {
    expect(() => redisAddress(tlsUrl, "/no/such/ca.pem")).toThrow("/no/such/ca.pem");
  });

  test("a plain port is no TLS port, and may be one later: not connected, with a hint", async () => {
    const error = await opening(server.url.replace("redis:", "rediss:"), { tlsCa: certificate });
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect((error as Error).message).toContain("TLS port");
  }, 15_000);
});

describe("what is shown of a URL", () => {
  test.each([
    ["redis://user:secret@host:1/2", "redis://host:1/2"],
    ["redis://:sec/ret@host:1/2", "redis://host:1/2"],
    ["redis://user:sec@ret@host", "redis://host"],
    ["rediss://user@host", "rediss://host"],
    ["redis+unix:///tmp/a@b.sock", "redis+unix:///tmp/a@b.sock"],
    ["redis+unix://user:pw@localhost/tmp/a@b.sock", "redis+unix://localhost/tmp/a@b.sock"],
    ["user:secret@host:1", "host:1"],
    ["redis://host", "redis://host"],
  ])("%s has no credentials", (url, shown) => {
    expect(withoutCredentials(url)).toBe(shown);
  });

  test("an unknown scheme is refused without telling the password", () => {
    expect(() => redisAddress("http://user:secret@host")).toThrow('got "http://host"');
    expect(() => redisAddress("user:secret@host")).toThrow('got "host"');
  });
});

describe("a connection", () => {
  test("serves scripts after SCRIPT FLUSH, in the middle of its work", async () => {
    await withServer([], async (server) => {
      const { store, close } = await redisHarness(server.url);
      const worker = await aWorker(store);
      for (let i = 0; i < 5; i++) {
        await server.send("SCRIPT", "FLUSH");
        await store.publish([job({ id: `j${i}` })]);
        await server.send("SCRIPT", "FLUSH");
        const { reserved } = await cycle(store, worker, { slots: 1 });
        await server.send("SCRIPT", "FLUSH");
        await cycle(store, worker, { settlements: [settle(reserved[0]!, { outcome: "ack" })] });
      }
      expect(await store.promoteDue()).toMatchObject({ problems: [] });
      expect((await cycle(store, worker, { slots: 1 })).hasStrays).toBe(false);
      await close();
    });
  });

  test("two calls while it connects make one connection", async () => {
    const stub = new RedisStub(([command]) => {
      if (command === "HELLO") return helloReply("7.0.0");
      return command === "INFO" ? bulk("run_id:abc\r\n") : "+PONG\r\n";
    });
    try {
      const connection = new RedisConnection(redisAddress(stub.url));
      await Promise.all([
        connection.call("PING", []),
        connection.call("PING", []),
        connection.call("PING", []),
      ]);
      expect(stub.connections).toBe(1);
      expect(connection.epoch).toBe(1);
      connection.close();
    } finally {
      stub.stop();
    }
  });

  test("closes itself when it gets the reply of another call", async () => {
    const stub = new RedisStub(([command, ...args]) => {
      if (command === "HELLO") return helloReply("7.0.0");
      if (command === "INFO") return bulk("run_id:abc\r\n");
      const nonce = stub.commands.filter(([name]) => name === "EVALSHA").length === 1 ? "another" : args[4]!;
      return `*1\r\n${bulk(nonce)}`;
    });
    try {
      const connection = new RedisConnection(redisAddress(stub.url));
      const call = () => connection.script(scripts.publish, ["a", "b"], ["p:"]);
      const error = await failure(call());
      expect(error).toBeInstanceOf(StoreUnavailable);
      expect(error).toMatchObject({
        isSent: true,
        message: expect.stringContaining("reply of another call"),
      });
      expect(await call()).toEqual([]);
      expect(stub.connections).toBe(2);
      connection.close();
    } finally {
      stub.stop();
    }
  });

  test("sends nothing again by itself when it breaks, and waits longer each time it fails", async () => {
    const stub = new RedisStub(([command]) => {
      if (command === "HELLO") return helloReply("7.0.0");
      return command === "INFO"
        ? bulk("run_id:abc\r\n")
        : "-LOADING Redis is loading the dataset in memory\r\n";
    });
    try {
      const connection = new RedisConnection(redisAddress(stub.url));
      const waits: number[] = [];
      for (let i = 0; i < 5; i++) {
        const startedAt = performance.now();
        const error = await failure(connection.call("INCR", ["a"]));
        expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", isSent: false });
        waits.push(performance.now() - startedAt);
      }
      expect(stub.commands.filter(([command]) => command === "INCR")).toHaveLength(5);
      expect(stub.connections).toBe(5);
      expect(waits[4]!).toBeGreaterThan(190); // at least half of 400 ms
      connection.close();
    } finally {
      stub.stop();
    }
  });

  test("a call whose connection broke says that it was sent; later ones find the server that came back", async () => {
    const server = await RedisServer.start();
    const connection = new RedisConnection(redisAddress(server.url));
    await connection.call("PING", []);
    const blocked = connection.call("BLPOP", ["nothing", 30], { deadlineMs: 40_000 });
    const failed = failure(blocked);
    await server.kill();
    expect(await failed).toMatchObject({ code: "STORE_UNAVAILABLE", isSent: true });
    expect(await failure(connection.call("PING", []))).toMatchObject({
      code: "STORE_UNAVAILABLE",
      isSent: false,
    });
    await server.restart();
    let answer: unknown;
    while (answer !== "PONG") answer = await connection.call("PING", []).catch(() => undefined);
    expect(connection.epoch).toBe(2);
    connection.close();
    await server.stop();
  });

  test("tells another server by another identity after a restart, with no call in between", async () => {
    const server = await RedisServer.start();
    const store = new RedisStore({ url: server.url, ...options });
    const before = await store.serverIdentity();
    expect(before).toMatch(/^\w{40}$/);
    await server.restart();
    let after = before;
    while (after === before) after = await store.serverIdentity().catch(() => before);
    expect(after).toMatch(/^\w{40}$/);
    await store.close();
    await server.stop();
  });

  test("gives up on a frozen server at its deadline, and recovers when that answers again", async () => {
    await withServer([], async (server) => {
      const connection = new RedisConnection(redisAddress(server.url));
      await connection.call("PING", []);
      server.freeze();
      const startedAt = performance.now();
      const error = await failure(connection.call("INCR", ["counter"], { deadlineMs: 300 }));
      expect(performance.now() - startedAt).toBeLessThan(3000);
      expect(error).toMatchObject({
        code: "STORE_UNAVAILABLE",
        isSent: true,
        message: expect.stringContaining("300 ms"),
      });
      const connecting = await failure(connection.call("INCR", ["counter"], { deadlineMs: 300 }));
      expect(connecting).toMatchObject({ code: "STORE_UNAVAILABLE", isSent: false });
      server.resume();
      expect(await connection.call("PING", [])).toBe("PONG");
      expect(await connection.call("GET", ["counter"])).toBe("1"); // the first came late, the second never
      connection.close();
    });
  }, 20_000);

  test("a replica that takes no writes is told as not available now", async () => {
    await withServer([], async (server) => {
      const store = new RedisStore({ url: server.url, ...options });
      await store.publish([job()]);
      await server.send("REPLICAOF", "127.0.0.1", 1);
      const error = await failure(store.publish([job()]));
      expect(error).toBeInstanceOf(StoreUnavailable);
      expect(error).toMatchObject({
        isSent: false,
        message: expect.stringContaining("does not take commands now"),
      });
      await server.send("REPLICAOF", "NO", "ONE");
      await store.publish([job()]);
      expect(await server.send("LLEN", "solid_jobs:channel:default")).toBe(2);
      await store.close();
    });
  });

  test("a closed one refuses every call at once, and those that wait for it", async () => {
    const connection = new RedisConnection(redisAddress("redis://127.0.0.1:1"));
    for (let i = 0; i < 6; i++) await failure(connection.call("PING", []));
    const startedAt = performance.now();
    const waiting = failure(connection.call("PING", [])); // a second or so until the next try
    connection.close();
    expect(await waiting).toMatchObject({ message: expect.stringContaining("was closed") });
    expect(await failure(connection.call("PING", []))).toMatchObject({
      message: expect.stringContaining("was closed"),
    });
    expect(performance.now() - startedAt).toBeLessThan(400);
  });
});

describe("at maxmemory", () => {
  /** Fills the server so far that it refuses what needs memory. */
  async function fill(server: RedisServer): Promise<void> {
    await server.send("SET", "ballast", "x".repeat(100_000));
    const used = Number(/used_memory:(\d+)/.exec(String(await server.send("INFO", "memory")))![1]);
    await server.send("CONFIG", "SET", "maxmemory", Math.floor(used / 2));
    expect(await server.send("SET", "more", "x").catch((error) => error.message)).toContain("OOM");
  }

  test.each(["modern", "legacy"] as const)(
    "publishing fails first, all else goes on (%s scripts)",
    async (kind) => {
      await withServer([], async (server) => {
        const harness = await redisHarness(server.url);
        const { store, channel, retries, put, setBeat } = harness;
        if (kind === "legacy") asBefore7(store);
        const worker = await aWorker(store);
        const given = jobs(4);
        await store.publish(given);
        await put("planned", job({ id: "due" }).payload, 5);
        const judge = (await aWorker(store)).node;
        await setBeat(judge, { steadySeconds: 60 });
        await fill(server);

        const error = await failure(store.publish([job(), job({ due: { afterSeconds: 1 } })], "b1"));
        expect(error).toBeInstanceOf(StoreFull);
        expect(await channel("default")).toHaveLength(4);

        const { reserved } = await cycle(store, worker, { slots: 3 });
        expect(reserved).toHaveLength(3);
        const reply = await cycle(store, worker, {
          settlements: [
            settle(reserved[0]!, { outcome: "ack" }),
            settle(reserved[1]!, { outcome: "retry", delaySeconds: 60, payload: reserved[1]!.raw }),
          ],
          slots: 1,
        });
        expect(reply).toMatchObject({ refused: [], blocked: [] });
        expect(reply.reserved).toHaveLength(1);
        expect(await retries()).toHaveLength(1);
        expect(await store.claimedBytes(worker, reserved[2]!)).toBeDefined();
        expect(await store.promoteDue()).toMatchObject({ planned: 1 });
        expect(await store.beat(worker.node, { busy: 1, isQuiet: false, isNewServer: false })).toMatchObject({
          isAlive: true,
        });
        expect(await store.reconcile(worker, "g2", reserved.slice(2), 3)).toMatchObject({
          isCurrent: true,
          requeued: 1,
        });
        const recovery = await store.recover({ identity: worker.node, judge, isProven: true });
        expect(recovery).toMatchObject({ state: "done", recovered: [{ jobId: given[2]!.id, crashes: 1 }] });
        await harness.close();
      });
    },
  );

  test("a waiter polls instead of blocking", async () => {
    await withServer([], async (server) => {
      const { store, send, prefix, close } = await redisHarness(server.url);
      await store.publish([job({ channel: "full" })]);
      await fill(server);
      const full = store.waiter("full");
      expect(await full.wait(5000)).toBe("ready");
      full.close();
      const empty = store.waiter("empty");
      expect(await empty.wait(300)).toBe("quiet");
      const wait = empty.wait(20_000);
      await send("RENAME", `${prefix}channel:full`, `${prefix}channel:empty`);
      expect(await wait).toBe("ready");
      const closing = store.waiter("nothing");
      const closed = closing.wait(20_000);
      closing.close();
      expect(await closed).toBe("closed");
      empty.close();
      await close();
    });
  });
});

/** Makes a store take its server for a Redis 6.2, which gets the scripts without flags. */
function asBefore7(store: RedisStore): void {
  const connection = (store as unknown as { connection: RedisConnection }).connection;
  connection.facts = { ...connection.facts!, version: "6.2.14" };
}
