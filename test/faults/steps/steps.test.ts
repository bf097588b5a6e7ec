import { describe, expect, test } from "bun:test";
import { runSteps } from "./campaign.ts";
import { scenarioTables } from "./scenarios/all.ts";

const seed = Number(process.env["FAULTS_SEED"] ?? Bun.hash.crc32(crypto.randomUUID()) % 1_000_000);

describe("a process that dies at one of its steps in a store", () => {
  for (const engine of ["redis", "sqlite"] as const) {
    test(`on ${engine}: loses no job and doubles none, wherever that is (seed ${seed})`, async () => {
      const { deaths, calls, faults } = await runSteps({ engine, seed, most: 2 });
      expect({ replay: `FAULTS_SEED=${seed}`, faults }).toEqual({
        replay: `FAULTS_SEED=${seed}`,
        faults: [],
      });
      expect(deaths).toBeGreaterThan(100);
      const wanted = Object.entries(scenarioTables).flatMap(([name, table]) =>
        Object.keys(table).map((method) => `${name}.${method}`),
      );
      expect([...calls]).toEqual(expect.arrayContaining(wanted));
    }, 240_000);
  }
});
