import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import packageFacts from "../../package.json" with { type: "json" };
import { Consumer, Packing } from "../support/consumer.ts";
import { codeBlocks, documentText, section } from "../support/markdown.ts";
import { Program } from "../support/program.ts";

const readme = documentText("README.md");
const firstTask = codeBlocks(section(readme, "## First task"));
const commands = firstTask
  .filter(({ language }) => language === "sh")
  .flatMap(({ code }) => code.trim().split("\n"));

let packing: Packing;
let consumer: Consumer;

beforeAll(async () => {
  packing = new Packing();
  consumer = await Consumer.create(await packing.pack("npm", "pack"));
}, 120_000);
afterAll(async () => {
  await consumer?.remove();
  packing?.remove();
});

describe("the README's first task", () => {
  test("takes twenty lines of code at most", () => {
    const lines = firstTask
      .filter(({ language }) => language === "ts")
      .flatMap(({ code }) => code.trim().split("\n"));
    expect(lines.length).toBeLessThanOrEqual(20);
  });

  test("runs as it stands, in a clean folder", async () => {
    expect(commands).toEqual([
      `bun add ./solid-jobs-${packageFacts.version}.tgz`,
      "bun publish.ts",
      "bunx solid-jobs -r ./jobs.ts",
    ]);
    for (const { language, code } of firstTask) {
      const name = /^\/\/ (\w+\.ts)\n/.exec(code)?.[1];
      if (language === "ts" && name !== undefined) await consumer.write(name, code);
    }
    const [add = "", publish = "", work = ""] = commands;
    expect(await consumer.run(...add.split(" "))).toMatchObject({ exitCode: 0 });
    const options = { cwd: consumer.folder, env: { NODE_ENV: "", REDIS_URL: "", SOLID_JOBS_URL: "" } };
    const publisher = Program.start(publish.split(" "), options);
    expect(await publisher.exited).toBe(0);
    const node = Program.start(work.split(" "), options);
    await node.said("Hello, world!");
    expect(await node.end("SIGTERM")).toBe(0);
  });
});

test("the README's two commands are scripts of the package", () => {
  const [block] = codeBlocks(section(readme, "## Two commands"));
  expect(block?.code).toBe("npm install && npm run demo\nnpm test\n");
  expect(Object.keys(packageFacts.scripts)).toContainValues(["demo", "test"]);
});
