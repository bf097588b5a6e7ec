import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { loadTasks } from "../../src/task/loader.ts";
import { clearRegistry, registeredTasks } from "../../src/task/registry.ts";

const folder = mkdtempSync(join(tmpdir(), "solid-jobs-loader-"));
const taskModule = resolve(import.meta.dir, "../../src/task/task.ts");
afterEach(clearRegistry);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
function moduleWith(text: string): string {
  const file = join(folder, `module with space & ${count++}.ts`);
  writeFileSync(file, `import { Task } from ${JSON.stringify(taskModule)};\n${text}`);
  return file;
}

function refusal(...files: string[]): Promise<string> {
  return loadTasks(files).then(
    () => "loaded",
    (error) => error.message,
  );
}

describe("the loader", () => {
  test("registers named and default exports, and leaves abstract bases and other exports out", async () => {
    const file = moduleWith(`
      export abstract class Base extends Task { static options = { channel: "bulk" }; }
      export class Named extends Base { executeTask() {} }
      export default class Default extends Base { executeTask() {} }
      export { Named as Again };
      export const limit = 5;
      export function helper() {}
      class Hidden extends Task { executeTask() {} }
    `);
    const tasks = await loadTasks([file]);
    expect(tasks.map(({ name }) => name).sort()).toEqual(["Default", "Named"]);
    expect(tasks[0]!.options.channel).toBe("bulk");
    expect(tasks[0]!.origin).toBe(file);
  });

  test("refuses a module that throws, with the file, the reason and the place", async () => {
    const file = moduleWith(`export const first = 1;\nthrow new TypeError("no database");`);
    const expected = `${file} does not load: TypeError: no database (at ${file}:3:`;
    expect(await refusal(file)).toStartWith(expected);
  });

  test("refuses a module with a mistake in its syntax, also in what it imports, with the place", async () => {
    const broken = moduleWith("export const fine = 1;\nexport class {{{");
    expect(await refusal(broken)).toMatch(`(at ${broken}:3:`);
    const importing = moduleWith(`import ${JSON.stringify(broken)};`);
    expect(await refusal(importing)).toStartWith(`${importing} does not load: `);
    expect(await refusal(importing)).toMatch(`(at ${broken}:3:`);
  });

  test("refuses a module that throws what is no error", async () => {
    const file = moduleWith(`throw "out of paper";`);
    expect(await refusal(file)).toBe(`${file} does not load: out of paper`);
  });

  test("refuses a file that is not there", async () => {
    const file = join(folder, "missing.ts");
    expect(await refusal(file)).toStartWith(`${file} does not load: `);
  });

  test("refuses a module without tasks, and says so when it has abstract ones only", async () => {
    expect(await refusal(moduleWith("export const limit = 5;"))).toContain(
      "exports no task: expected an exported class that extends Task and has executeTask, got no such class",
    );
    expect(await refusal(moduleWith("export abstract class Base extends Task {}"))).toContain(
      "got only abstract ones",
    );
  });

  test("registers nothing when one of several modules cannot be used", async () => {
    const good = moduleWith("export class Good extends Task { executeTask() {} }");
    const bad = moduleWith("export const limit = 5;");
    expect(await refusal(good, bad)).toContain(bad);
    expect(registeredTasks()).toEqual([]);
  });
});
