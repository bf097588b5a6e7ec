import { expect, test } from "bun:test";
import { siteEngines } from "../support/site.ts";
import { runPoison } from "./poison.ts";

// `npm run faults -- poison` does the same with 10,000 innocent jobs.

test.each(siteEngines)("%s: exactly the poison is archived, and all around it is done", async (engine) => {
  const seed = Number(process.env["FAULTS_SEED"] ?? 1);
  const { problems, archived, deaths } = await runPoison({ engine, jobs: 1500, poison: 3, seed });
  expect(problems).toEqual([]);
  expect(archived).toBe(3);
  expect(deaths).toBeGreaterThan(3);
});
