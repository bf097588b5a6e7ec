import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dir, "../..");
const fixtures = join(import.meta.dir, "fixtures");
const folder = mkdtempSync(join(tmpdir(), "solid-jobs-types-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Diagnostic {
  readonly line: number;
  readonly code: string;
  /** Its first line, and the reasons below it. */
  readonly texts: readonly string[];
}

/** What the compiler says of one fixture under the project's own flags. */
async function diagnosticsOf(fixture: string): Promise<Diagnostic[]> {
  const config = join(folder, `${fixture}.json`);
  const content = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: { noEmit: true, typeRoots: [join(root, "node_modules")] },
    files: [join(fixtures, fixture), join(root, "src/text-modules.d.ts")],
    include: [],
  };
  writeFileSync(config, JSON.stringify(content));
  const tsc = Bun.spawn([join(root, "node_modules/.bin/tsc"), "-p", config, "--pretty", "false"], {
    cwd: folder,
    stdout: "pipe",
    stderr: "inherit",
  });
  const output = await tsc.stdout.text();
  await tsc.exited;
  return parsed(output);
}

function parsed(output: string): Diagnostic[] {
  const found: { line: number; code: string; texts: string[] }[] = [];
  for (const row of output.split("\n")) {
    const head = /^.*fixtures[\\/][\w-]+\.ts\((\d+),\d+\): error (TS\d+): (.*)$/.exec(row);
    if (head !== null) found.push({ line: Number(head[1]), code: head[2]!, texts: [head[3]!] });
    else if (row.startsWith(" ")) found.at(-1)?.texts.push(row.trim());
    else if (row !== "") throw new Error(`an error outside of the fixture: ${row}`);
  }
  return found;
}

interface Expectation {
  readonly line: number;
  readonly code: string;
  readonly text: string;
}

/** `// expect TS1234: text` stands for the line after it. */
async function expectationsOf(fixture: string): Promise<Expectation[]> {
  const lines = (await Bun.file(join(fixtures, fixture)).text()).split("\n");
  return lines.flatMap((line, index) => {
    const found = /^\s*\/\/ expect (TS\d+): (.*)$/.exec(line);
    return found === null ? [] : [{ line: index + 2, code: found[1]!, text: found[2]! }];
  });
}

const expected = await expectationsOf("refused.ts");

describe("the types of the public names", () => {
  test("take what users write", async () => {
    expect(await diagnosticsOf("compiles.ts")).toEqual([]);
  });

  const refused = diagnosticsOf("refused.ts");

  test("refuse nothing but what is wrong", async () => {
    expect((await refused).map(({ line }) => line)).toEqual(expected.map(({ line }) => line));
    expect(expected.length).toBeGreaterThan(25);
  });

  for (const { line, code, text } of expected) {
    test(`line ${line} fails with ${code}: ${text}`, async () => {
      const diagnostic = (await refused).find((each) => each.line === line);
      expect(diagnostic?.code).toBe(code);
      expect(diagnostic?.texts).toContain(text);
    });
  }
});
