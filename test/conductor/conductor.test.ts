import { expect, test } from "bun:test";
import { Conductor } from "../../src/conductor/conductor.ts";
import { silentLogger } from "../../src/instrumentation/logger-output.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("a node without tasks does not start: it would fail every job that others publish", async () => {
  using folder = temporaryFolder();
  const url = `sqlite:${folder.path}/jobs.sqlite`;
  const conductor = new Conductor({ url, concurrency: 1, logger: silentLogger });
  await expect(conductor.start()).rejects.toThrow("give it modules with require");
  expect(await conductor.finished).toBe(1);
});
