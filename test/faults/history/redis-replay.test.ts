import { describe, expect, test } from "bun:test";
import { commandsIn } from "./aof-file.ts";
import { RedisReplay } from "./redis-replay.ts";

const payload = (id: string) => `{"id":"${id}","channel":"default"}`;
const claim = (id: string, token: string) => JSON.stringify({ task_id: id, claim_token: token });
const list = "p:node:n:claimed:w0-1.0";

function replayed(...commands: string[][]): RedisReplay {
  const replay = new RedisReplay("p:");
  for (const command of commands) replay.apply(command, 1);
  return replay;
}

const reserved = (id: string, token: string) => [
  ["RPOP", "p:channel:default"],
  ["RPUSH", list, payload(id)],
  ["HSET", "p:node:n:claims", "w0-1.0", claim(id, token)],
];
const transaction = (...commands: string[][]) => [["MULTI"], ...commands, ["EXEC"]];
const way = (replay: RedisReplay, id: string) =>
  replay.steps.filter((step) => step.id === id).map(({ from, to, token }) => `${from} ${to} ${token}`);

describe("the history of a Redis", () => {
  test("a job's way, with the tokens of its claims, one step a transaction", () => {
    const replay = replayed(
      ["LPUSH", "p:channel:default", payload("a"), payload("b")],
      ...transaction(...reserved("a", "t1")),
      ...transaction(["RPOP", list], ...reserved("b", "t2")),
      ...transaction(
        ["LMOVE", list, "p:channel:default", "RIGHT", "RIGHT"],
        ["HDEL", "p:node:n:claims", "w0-1.0"],
      ),
    );
    expect(way(replay, "a")).toEqual([
      "undefined ready undefined",
      "ready claimed t1",
      "claimed undefined t1",
    ]);
    expect(way(replay, "b")).toEqual(["undefined ready undefined", "ready claimed t2", "claimed ready t2"]);
    expect(replay.doubled).toEqual([]);
  });

  test("a job that is given back and taken again at once has two steps", () => {
    const replay = replayed(
      ["LPUSH", "p:channel:default", payload("a")],
      ...transaction(...reserved("a", "t1")),
      ...transaction(["LMOVE", list, "p:channel:default", "RIGHT", "RIGHT"], ...reserved("a", "t2")),
    );
    expect(way(replay, "a").slice(2)).toEqual(["claimed ready t1", "ready claimed t2"]);
  });

  test("sets, whole and by their lowest", () => {
    const replay = replayed(
      ["ZADD", "p:planned", "5", payload("a"), "3", payload("b")],
      ...transaction(["ZPOPMIN", "p:planned"], ["LPUSH", "p:channel:default", payload("b")]),
      ["ZREMRANGEBYRANK", "p:planned", "0", "0"],
    );
    expect(way(replay, "b")).toEqual(["undefined planned undefined", "planned ready undefined"]);
    expect(way(replay, "a")).toEqual(["undefined planned undefined", "planned undefined undefined"]);
  });

  test("a job that stands in two places is told", () => {
    const replay = replayed(
      ["LPUSH", "p:channel:default", payload("a")],
      ["ZADD", "p:retries", "1", payload("a")],
    );
    expect(replay.doubled).toEqual([{ id: "a", places: ["p:channel:default", "p:retries"] }]);
  });

  test("what it does not know of a job's key it refuses, what is no job's key it passes over", () => {
    expect(() => replayed(["LTRIM", "p:channel:default", "0", "1"])).toThrow("does not know LTRIM");
    expect(replayed(["LTRIM", "p:node:n:signals", "0", "1"], ["INCR", "p:metrics:processed"]).steps).toEqual(
      [],
    );
  });
});

describe("the text of an append-only file", () => {
  const text = (...words: string[]) =>
    `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`;

  test("is cut into commands, with the offset behind each", () => {
    const [first, second] = [text("SELECT", "0"), text("RPUSH", "k", "ä\r\n")];
    const found = [...commandsIn(Buffer.from(`#TS:1\r\n${first}${second}`))];
    expect(found.map(({ command }) => command)).toEqual([
      ["SELECT", "0"],
      ["RPUSH", "k", "ä\r\n"],
    ]);
    expect(found[0]?.end).toBe(7 + first.length);
  });

  test("a command that was cut off by a crash is left out", () => {
    const whole = text("DEL", "a");
    for (let length = 1; length < whole.length; length++) {
      expect([...commandsIn(Buffer.from(whole + whole.slice(0, length)))]).toHaveLength(1);
    }
  });
});
