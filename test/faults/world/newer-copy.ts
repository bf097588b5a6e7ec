import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "..", "..", "..");
let made: string | undefined;

/**
 * A copy of the package as a later version of it could be: its embedded engine has one more migration, which
 * adds a table. Made once; removed when this process ends.
 *
 * @returns the command line's program in it
 * @throws Error when the list of migrations is not where it was
 */
export function newerCopy(): string {
  made ??= makeCopy();
  return join(made, "bin", "solid-jobs.ts");
}

function makeCopy(): string {
  const folder = mkdtempSync(join(tmpdir(), "solid-jobs-newer-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const part of ["src", "lua", "bin", "package.json"])
    cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const schema = join(folder, "src", "store", "sqlite", "schema.ts");
  const text = readFileSync(schema, "utf8");
  const newer = text.replace(
    /\n\];\n\nexport const schemaVersion/,
    "\n  `CREATE TABLE IF NOT EXISTS later (n INTEGER)`,$&",
  );
  if (newer === text) throw new Error(`expected a list of migrations before schemaVersion in ${schema}`);
  writeFileSync(schema, newer);
  return folder;
}
