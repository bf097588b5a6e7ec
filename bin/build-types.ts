/**
 * Writes `types/`: the declarations that the `types` condition of package.json points to. Consumers' own
 * `tsc` then never reads the library's sources, whose Lua imports and compiler flags are not theirs.
 * Runs before packing; exits 1 when the declarations cannot stand alone.
 */
import { existsSync, rmSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const root = resolve(import.meta.dir, "..");
const types = join(root, "types");
const entries = ["src/index.d.ts", "src/lab/index.d.ts"].map((path) => join(types, path));

/** Every module name in an import, export or `import()` type of a declaration file. */
function importedNames(declarations: string): string[] {
  return [...declarations.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1]!);
}

/** What keeps the declarations from standing alone, walking from the entries. */
async function faults(): Promise<string[]> {
  const found: string[] = [];
  const seen = new Set<string>();
  const waiting = [...entries];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    const where = relative(root, file);
    if (!existsSync(file)) {
      found.push(`${where} is missing`);
      continue;
    }
    for (const name of importedNames(await Bun.file(file).text())) {
      if (name.startsWith(".") && name.endsWith(".ts")) {
        waiting.push(resolve(dirname(file), name.replace(/(?:\.d)?\.ts$/, ".d.ts")));
      } else if (name !== "bun" && !name.startsWith("bun:") && !name.startsWith("node:")) {
        found.push(`${where} imports "${name}", which a consumer's compiler cannot resolve`);
      }
    }
  }
  return found;
}

rmSync(types, { recursive: true, force: true });
const compiler = join(dirname(Bun.resolveSync("typescript/package.json", root)), "bin", "tsc");
const tsc = Bun.spawnSync([process.execPath, compiler, "-p", join(root, "bin", "types.tsconfig.json")], {
  stdout: "inherit",
  stderr: "inherit",
});
const problems = tsc.exitCode === 0 ? await faults() : ["tsc could not write the declarations"];
for (const problem of problems) console.error(`build-types: ${problem}`);
process.exit(problems.length === 0 ? 0 : 1);
