import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { filesOf } from "../support/imports.ts";
import { codeBlocks, documentText } from "../support/markdown.ts";
import { Program } from "../support/program.ts";
import { RedisServer } from "../support/redis-server.ts";

const root = join(import.meta.dir, "..", "..");
const blocks = codeBlocks(documentText("docs/configuration.md"));
const command = blocks.find(({ code }) => code.startsWith("ACL SETUSER"))?.code ?? "";
const words = command.replaceAll("\\\n", " ").trim().split(/\s+/);

let redis: RedisServer;
beforeAll(async () => {
  redis = await RedisServer.start();
});
afterAll(() => redis.stop());

/** Every Redis command that scripts and TypeScript name. */
async function commandsOfTheStore(): Promise<string[]> {
  const found = new Set<string>();
  for (const file of filesOf("lua/*.lua")) {
    const source = await Bun.file(join(root, file)).text();
    for (const [, name = ""] of source.matchAll(/call\w*\(\s*'([A-Z]+)'|(?:string|zset|set) = '([A-Z]+)'/g))
      found.add(name);
    for (const [, name = ""] of source.matchAll(/in_parts\('([A-Z]+)'/g)) found.add(name);
  }
  for (const file of filesOf("src/store/redis/*.ts")) {
    const source = await Bun.file(join(root, file)).text();
    for (const [, name = ""] of source.matchAll(/(?:call|send)\(\s*(?:client, )?"([A-Z]+)"/g))
      found.add(name);
  }
  found.delete("");
  return [...found].map((name) => `+${name.toLowerCase()}`);
}

describe("the Redis user of docs/configuration.md", () => {
  test("may use every command of the store", async () => {
    const needed = await commandsOfTheStore();
    expect(needed).toContain("+lmove");
    expect(needed.filter((name) => !words.includes(name))).toEqual([]);
  });

  test("is enough for publishing, running, retrying, planning and looking", async () => {
    await redis.send(words[0]!, ...words.slice(1));
    const url = redis.url.replace("redis://", "redis://jobs:secret@");
    for (const example of ["retries", "scheduling"]) {
      const env = { REDIS_URL: url, SOLID_JOBS_PREFIX: `solid_jobs:${example}:` };
      const program = Program.start([process.execPath, join(root, "examples", example, "main.ts")], { env });
      expect({ status: await program.exited, output: program.output }).toMatchObject({ status: 0 });
    }
    expect(await redis.send("ACL", "LOG")).toEqual([]);
  });
});
