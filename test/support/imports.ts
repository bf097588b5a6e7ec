import { dirname, join, relative } from "node:path";

export interface Import {
  /** Relative to the repository. */
  readonly from: string;
  /** The module's name as written. */
  readonly name: string;
  /** The file it points to, relative to the repository; undefined for a package. */
  readonly to: string | undefined;
}

const root = join(import.meta.dir, "..", "..");

/**
 * Every import of the files that match, type imports and re-exports included, and every file that is named
 * to a `new URL(..., import.meta.url)`, as worker entries are.
 */
export async function importsOf(glob: string): Promise<Import[]> {
  const files = [...new Bun.Glob(glob).scanSync({ cwd: root })].sort();
  const found = await Promise.all(
    files.map(async (from) =>
      moduleNames(await Bun.file(join(root, from)).text()).map((name) => ({ from, name })),
    ),
  );
  return found.flat().map(({ from, name }) => ({ from, name, to: target(from, name) }));
}

export function filesOf(glob: string): string[] {
  return [...new Bun.Glob(glob).scanSync({ cwd: root })].sort();
}

const forms = [
  /^(?:import|export)\b[^"';]*?\bfrom\s+"([^"]+)"/gm,
  /^import\s+"([^"]+)"/gm,
  /\bimport\(\s*"([^"]+)"/g,
  /\brequire\(\s*"([^"]+)"/g,
  /\bnew URL\(\s*"(\.[^"]+)"\s*,\s*import\.meta\.url/g,
];

function moduleNames(source: string): string[] {
  const code = source.replace(/^\s*(?:\/\*\*[\s\S]*?\*\/|\/\/.*)$/gm, "");
  return forms.flatMap((form) => [...code.matchAll(form)].map((match) => match[1]!));
}

function target(from: string, name: string): string | undefined {
  return name.startsWith(".") ? relative(root, join(root, dirname(from), name)) : undefined;
}
