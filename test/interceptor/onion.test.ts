import { describe, expect, test } from "bun:test";
import { type Interceptor, runOnion } from "../../src/interceptor/onion.ts";

type Layer = Interceptor<string[], unknown>;

const noting =
  (name: string): Layer =>
  async (trail, next) => {
    trail.push(name);
    const result = await next();
    trail.push(`${name} end`);
    return result;
  };

function running(layers: Layer[], core: () => Promise<unknown> = async () => "result") {
  const trail: string[] = [];
  const ended = runOnion(layers, trail, async () => {
    trail.push("core");
    return core();
  });
  return { trail, ended };
}

/** A core that ends when the test says so. */
function waiting() {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  return { core: () => promise, resolve, reject };
}

async function isPending(promise: Promise<unknown>): Promise<boolean> {
  await new Promise(setImmediate);
  return Bun.peek.status(promise) === "pending";
}

describe("interceptors", () => {
  test("run around each other, the first one outermost, and pass the result on", async () => {
    const { trail, ended } = running([noting("a"), noting("b")]);
    expect(await ended).toBe("result");
    expect(trail).toEqual(["a", "b", "core", "b end", "a end"]);
  });

  test("that do not call next stop what is inside", async () => {
    const { trail, ended } = running([noting("a"), () => "stopped", noting("c")]);
    expect(await ended).toBe("stopped");
    expect(trail).toEqual(["a", "a end"]);
  });

  test("may replace an error by a result, and a result by an error", async () => {
    const rescue: Layer = (_, next) => next().catch(() => "rescued");
    const fail = async () => {
      throw new Error("inside");
    };
    expect(await running([rescue], fail).ended).toBe("rescued");
    const spoil: Layer = async (_, next) => {
      await next();
      throw new Error("afterwards");
    };
    await expect(running([spoil]).ended).rejects.toThrow("afterwards");
  });

  test("that call next twice are refused, and the inside has run once", async () => {
    const twice: Layer = async (_, next) => {
      await next();
      await next();
    };
    const { trail, ended } = running([twice]);
    await expect(ended).rejects.toThrow("more than once");
    expect(trail).toEqual(["core"]);
  });
});

describe("an interceptor that forgets to await next", () => {
  const forgetful: Layer = (_, next) => void next();

  test("ends after what is inside", async () => {
    const { core, resolve } = waiting();
    const { ended } = running([forgetful, noting("b")], core);
    expect(await isPending(ended)).toBe(true);
    resolve("result");
    expect(await ended).toBeUndefined();
  });

  test("fails with what the inside throws", async () => {
    const { core, reject } = waiting();
    const { ended } = running([forgetful], core);
    reject(new Error("inside"));
    await expect(ended).rejects.toThrow("inside");
  });

  test("and throws itself fails at once, and leaves no rejection that nobody handles", async () => {
    const { core, reject } = waiting();
    const impatient: Layer = (_, next) => {
      void next();
      throw new Error("impatient");
    };
    await expect(running([impatient], core).ended).rejects.toThrow("impatient");
    reject(new Error("seen by nobody"));
    await new Promise(setImmediate); // an unhandled rejection would fail this test
  });
});
