import { dirname, join, relative } from "node:path";

export interface Import {
  /** Relative to the repository. */
  readonly from: string;
  /** The module's name as written. */
  readonly name: string;
  /** The file it points to, relative to the repository; undefined for a package. */
  readonly to: string | undefined;
  /** The entry of a thread, named to `new URL(..., import.meta.url)` and not imported. */
  readonly isEntry: boolean;
}

const root = join(import.meta.dir, "..", "..");

/** Every import of the files that match, type imports and re-exports included, and every thread entry. */
export async function importsOf(glob: string): Promise<Import[]> {
  const found = filesOf(glob).map(async (from) => {
    const source = await Bun.file(join(root, from)).text();
    return [...imported(from, source, importForms, false), ...imported(from, source, [entryForm], true)];
  });
  return (await Promise.all(found)).flat();
}

export function filesOf(glob: string): string[] {
  return [...new Bun.Glob(glob).scanSync({ cwd: root })].sort();
}

const importForms = [
  /^(?:import|export)\b[^"';]*?\bfrom\s+"([^"]+)"/gm,
  /^import\s+"([^"]+)"/gm,
  /\bimport\(\s*"([^"]+)"/g,
  /\brequire\(\s*"([^"]+)"/g,
];
const entryForm = /\bnew URL\(\s*"(\.[^"]+)"\s*,\s*import\.meta\.url/g;

function imported(from: string, source: string, forms: readonly RegExp[], isEntry: boolean): Import[] {
  const code = source.replace(/^\s*(?:\/\*\*[\s\S]*?\*\/|\/\/.*)$/gm, "");
  return forms
    .flatMap((form) => [...code.matchAll(form)].map((match) => match[1]!))
    .map((name) => ({ from, name, to: target(from, name), isEntry }));
}

function target(from: string, name: string): string | undefined {
  return name.startsWith(".") ? relative(root, join(root, dirname(from), name)) : undefined;
}
