import { expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { codeBlocks, documents, documentText } from "../support/markdown.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = join(import.meta.dir, "..", "..");

/** What the documents use of frameworks that are not installed here. */
const frameworks = `
declare module "hono" {
  interface Context {
    readonly req: { param(name: string): string };
    json(body: unknown, status?: number): Response;
  }
  export class Hono {
    post(path: string, handler: (c: Context) => Promise<Response>): this;
    fetch(request: Request): Promise<Response>;
  }
}
declare module "elysia" {
  interface Context {
    readonly params: { readonly name: string };
    status(code: number, body: unknown): unknown;
  }
  export class Elysia {
    post(path: string, handler: (context: Context) => Promise<unknown>): this;
    listen(port: number): this;
  }
}
`;

/** A block whose first line is a file's name in a comment is that file; documents have a folder each. */
function filesOfDocument(path: string): [name: string, code: string][] {
  const folder = path.replaceAll(/\W/g, "-");
  const blocks = codeBlocks(documentText(path)).filter(({ language }) => language === "ts");
  return blocks.map(({ code }, index) => {
    const name = /^\/\/ ([\w/-]+\.ts)\n/.exec(code)?.[1] ?? `block-${index}.ts`;
    return [`${folder}/${name}`, code];
  });
}

test("every TypeScript block of the documents compiles", async () => {
  using folder = temporaryFolder();
  symlinkSync(join(root, "node_modules"), join(folder.path, "node_modules"));
  const files = documents.flatMap(filesOfDocument);
  expect(files.length).toBeGreaterThan(10);
  for (const [name, code] of files) folder.write(name, code);
  folder.write("frameworks.d.ts", frameworks);
  const { compilerOptions } = (await Bun.file(join(root, "tsconfig.json")).json()) as {
    compilerOptions: Record<string, unknown>;
  };
  const paths = {
    "solid-jobs": [join(root, "src/index.ts")],
    "solid-jobs/lab": [join(root, "src/lab/index.ts")],
  };
  const include = ["**/*.ts", join(root, "src/text-modules.d.ts")];
  folder.write("tsconfig.json", JSON.stringify({ compilerOptions: { ...compilerOptions, paths }, include }));
  const tsc = Bun.spawnSync(
    [process.execPath, join(root, "node_modules/typescript/bin/tsc"), "-p", folder.path],
    {
      cwd: folder.path,
    },
  );
  expect(tsc.stdout.toString() + tsc.stderr.toString()).toBe("");
  expect(tsc.exitCode).toBe(0);
});
