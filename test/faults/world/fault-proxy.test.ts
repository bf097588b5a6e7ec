import { expect, test } from "bun:test";
import { RedisClient } from "bun";
import { awaited } from "../../support/awaited.ts";
import { RedisServer } from "../../support/redis-server.ts";
import { FaultProxy } from "./fault-proxy.ts";

async function behindProxy<T>(
  work: (parts: { server: RedisServer; proxy: FaultProxy; client: RedisClient }) => Promise<T>,
) {
  const server = await RedisServer.start();
  const proxy = await FaultProxy.start(server.port);
  const client = new RedisClient(proxy.url, { autoReconnect: false, maxRetries: 0 });
  try {
    return await work({ server, proxy, client });
  } finally {
    client.close();
    await proxy.close();
    await server.stop();
  }
}

const failed = (answer: Promise<unknown>) =>
  answer.then(
    () => false,
    () => true,
  );

test("a lost reply's command was executed, and its connection ends", () =>
  behindProxy(async ({ server, proxy, client }) => {
    await client.send("PING", []);
    const lost = proxy.loseReply((name) => name === "INCR", { isCut: true });
    const answer = failed(client.send("INCR", ["n"]));
    expect(await lost).toEqual({ command: "INCR", wasExecuted: true });
    expect(await answer).toBe(true);
    expect(await server.send("GET", "n")).toBe("1");
  }));

test("a reply can be lost in silence: the connection stays and says nothing more", () =>
  behindProxy(async ({ server, proxy, client }) => {
    await client.send("PING", []);
    const lost = proxy.loseReply((name) => name === "INCR", { isCut: false });
    const answers = [client.send("INCR", ["n"]), client.send("PING", [])].map(failed);
    await lost;
    expect(await Promise.race([...answers, Bun.sleep(50).then(() => "silence")])).toBe("silence");
    expect(await server.send("GET", "n")).toBe("1");
    proxy.cut();
    expect(await Promise.all(answers)).toEqual([true, true]);
  }));

test("replies that were held arrive in their order", () =>
  behindProxy(async ({ proxy, client }) => {
    proxy.delay(20);
    const early = client.send("ECHO", ["early"]);
    await awaited("the question", () => proxy.asked.has("ECHO"));
    proxy.hold();
    const later = ["1", "2", "3"].map((text) => client.send("ECHO", [text]));
    await awaited("the questions", () => proxy.asked.get("ECHO") === 4);
    proxy.heal();
    expect(await Promise.all([early, ...later])).toEqual(["early", "1", "2", "3"]);
  }));

test("a truncated reply, a half-closed connection and a swallowed answer fail their commands", () =>
  behindProxy(async ({ proxy }) => {
    const faults = [
      () => proxy.truncate(),
      () => proxy.halfClose(),
      () => {
        proxy.swallow();
        setTimeout(() => proxy.heal(), 30);
      },
    ];
    for (const fault of faults) {
      const client = new RedisClient(proxy.url, { autoReconnect: false, maxRetries: 0 });
      await client.send("PING", []);
      fault();
      expect(await failed(client.send("ECHO", ["a text that is long enough to be cut"]))).toBe(true);
      client.close();
    }
  }));
