import { afterAll, expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { configure, resetConfiguration } from "../../src/config/process.ts";
import { silentLogger } from "../../src/instrumentation/logger-output.ts";
import { lab } from "../../src/lab/lab.ts";
import { performTask } from "../../src/task/perform.ts";
import { clearRegistry, registerTasks, taskNamed } from "../../src/task/registry.ts";
import { Task } from "../../src/task/task.ts";

const root = resolve(import.meta.dir, "../..");
const folder = mkdtempSync(join(tmpdir(), "solid-jobs-copy-"));
for (const part of ["src", "lua"]) cpSync(join(root, part), join(folder, part), { recursive: true });
symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
afterAll(() => {
  clearRegistry();
  resetConfiguration();
  rmSync(folder, { recursive: true, force: true });
});

const copy: { Task: typeof Task } = await import(join(folder, "src/task/task.ts"));

class Greeting extends copy.Task {
  readonly idAtBirth = this.taskId;
  executeTask(name: string): string {
    return `${this.idAtBirth} ${name} ${this.attempt}`;
  }
}

test("a task of another copy of the package is registered, published, captured and run by this one", async () => {
  expect(copy.Task).not.toBe(Task);
  registerTasks([{ taskClass: Greeting, origin: "/copy.ts" }]);
  expect(taskNamed("Greeting")?.taskClass).toBe(Greeting);
  configure({ maxFailures: 7 });
  await lab.testing("capture", async () => {
    const id = await Greeting.enqueue("Ada");
    const [job] = Greeting.captured();
    expect(job!.envelope.maxFailures).toBe(7);
    const signal = new AbortController().signal;
    const execution = { envelope: job!.envelope, attempt: 2, signal, logger: silentLogger };
    expect(performTask(Greeting, execution, [])).toBe(`${id} Ada 2`);
    expect(await Greeting.executeNext()).toBe(`${id} Ada 1`);
  });
});
