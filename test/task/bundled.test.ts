import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "solid-jobs-bundle-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const library = resolve(import.meta.dir, "../../src");
const program = join(folder, "program.ts");
writeFileSync(
  program,
  `import { optionsOf } from "${library}/task/options.ts";
   import { Task } from "${library}/task/task.ts";
   class Named extends Task { static options = { name: "mail.named" }; executeTask() {} }
   class Unnamed extends Task { executeTask() {} }
   console.log(optionsOf(Named).name);
   try { console.log(optionsOf(Unnamed).name); } catch (error) { console.log(error.message); }`,
);

async function outputOf(...command: string[]): Promise<string> {
  const child = Bun.spawn(command, { cwd: folder, stdout: "pipe", stderr: "inherit" });
  return child.stdout.text();
}

describe("a task without options.name", () => {
  test("has its class's name in a program that runs from its source", async () => {
    expect(await outputOf(process.execPath, program)).toBe("mail.named\nUnnamed\n");
  });

  test("is refused in a bundle", async () => {
    const bundle = join(folder, "bundle.js");
    await outputOf(process.execPath, "build", program, "--target=bun", `--outfile=${bundle}`);
    expect(await outputOf(process.execPath, bundle)).toMatch(/^mail\.named\n.* needs options\.name: /);
  });

  test("is refused in an executable, whatever it was minified to", async () => {
    const executable = join(folder, "executable");
    await outputOf(process.execPath, "build", program, "--compile", "--minify", `--outfile=${executable}`);
    expect(await outputOf(executable)).toMatch(/^mail\.named\n.* needs options\.name: /);
  });
});
