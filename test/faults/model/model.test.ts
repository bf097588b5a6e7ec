import { describe, expect, test } from "bun:test";
import { runModel, withGround } from "./run-model.ts";
import { kinds } from "./steps/all.ts";

const seed = Number(process.env["FAULTS_SEED"] ?? Bun.hash.crc32(crypto.randomUUID()) % 1_000_000);

describe("random steps by several nodes", () => {
  for (const engine of ["redis", "sqlite"] as const) {
    test(`leave every job in one place, on ${engine} (seed ${seed})`, async () => {
      const report = await withGround(engine, (ground) =>
        runModel(ground, { engine, seed, runs: engine === "redis" ? 300 : 200 }),
      );
      expect(report.failure ?? "none").toBe("none");
      expect(report.runs).toBeGreaterThanOrEqual(200);
      expect([...report.steps.keys()]).toEqual(expect.arrayContaining(kinds));
    }, 240_000);
  }
});
