import { expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ResultsFile } from "./results-file.ts";

const main = join(import.meta.dir, "main.ts");

function faults(...args: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, main, ...args]);
  return { exitCode, output: `${stdout}${stderr}` };
}

test("what cannot be used is told in a line, and the status is 1", () => {
  const wrong: [string[], string][] = [
    [["--seed", "x"], 'expected a whole number, got "x"'],
    [["--seeds", "5..1"], 'expected a range such as 1..100, got "5..1"'],
    [["--minutes", "0"], 'expected a number above 0, got "0"'],
    [["--engine", "mysql"], "Allowed choices are redis, sqlite"],
    [["--faults", "sigkill,sigkil"], 'got "sigkil"'],
    [["--engine", "sqlite", "--faults", "failover"], 'got "failover"'],
    [["--seed", "1", "--seeds", "1..2"], "expected --seed or --seeds"],
    [["--colour"], "unknown option"],
    [["fact"], "too many arguments"],
  ];
  for (const [args, message] of wrong) {
    const { exitCode, output } = faults(...args);
    expect([exitCode, output.trim().split("\n").length]).toEqual([1, 1]);
    expect(output).toContain(message);
  }
});

test("the faults are listed", () => {
  const { exitCode, output } = faults("list");
  expect(exitCode).toBe(0);
  expect(output).toMatch(/^sigkill +redis, sqlite +kills a node/m);
});

test("a campaign goes on from its file, and from no other's", () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "results.json");
  const facts = { engine: "redis", faults: ["sigkill"], jobs: 200, strikes: undefined };
  const file = new ResultsFile(path, facts);
  file.add({ ...emptyResult, seed: 7 });
  const again = new ResultsFile(path, facts);
  expect([again.has(7), again.has(8)]).toEqual([true, false]);
  expect(() => new ResultsFile(path, { ...facts, jobs: 100 })).toThrow("is of another campaign");
  folder.write("results.json", "no results");
  expect(() => new ResultsFile(path, facts)).toThrow("holds no results of a campaign");
});

const emptyResult = {
  ...{
    seed: 0,
    tookMs: 1,
    rounds: [],
    published: 0,
    unconfirmed: 0,
    refused: {},
    executed: 0,
    executedMoreThanOnce: 0,
  },
  ...{
    causes: {},
    slowestMs: {},
    archived: 0,
    stillStored: 0,
    rolledBack: 0,
    lost: 0,
    settledStale: 0,
    faults: {},
    hits: 0,
    missed: 0,
  },
  ...{ lostReplies: {}, problems: [] },
};
