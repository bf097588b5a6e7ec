import { statSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { ConfigurationError } from "../foundation/errors.ts";

/** The files that can hold tasks. */
export const moduleExtensions = [".ts", ".tsx", ".js", ".mjs", ".cjs", ".mts", ".cts"] as const;

const globCharacters = /[*?[\]{}!]/;
const modulePattern = "**/*";

/**
 * The module files behind absolute paths of files, directories and globs, sorted and each once. Tests
 * (`*.test.*`, `*.spec.*`, `__tests__`), declarations (`.d.ts`), `node_modules` and dotfiles are skipped;
 * so are tests and declarations that are named one by one, as a shell does for `jobs/*.ts`.
 * @throws ConfigurationError when a path matches nothing, when one is no module, or when only tests are left
 */
export function expandRequire(paths: readonly string[], origin: string): readonly string[] {
  const files = new Set<string>();
  const skipped: string[] = [];
  for (const path of paths) {
    const kind = kindOf(path);
    const found = kind === "file" ? [checkedModule(path, origin)] : scan(path, kind);
    if (found.length === 0) throw nothingFound(path, kind, origin);
    for (const file of found) {
      if (kind === "file" && isSkipped(basename(file))) skipped.push(file);
      else files.add(file);
    }
  }
  if (files.size === 0 && skipped.length > 0) {
    throw new ConfigurationError(
      `${origin}: expected modules with tasks, got only tests or declarations: ${skipped.join(", ")}`,
    );
  }
  return Object.freeze([...files].sort());
}

type PathKind = "file" | "directory" | "pattern";

function kindOf(path: string): PathKind {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return "pattern";
  return stat.isDirectory() ? "directory" : "file";
}

function checkedModule(path: string, origin: string): string {
  if (hasModuleExtension(path)) return path;
  throw new ConfigurationError(
    `${origin}: expected a module (${moduleExtensions.join(" ")}), got the file ${path}`,
  );
}

function scan(path: string, kind: "directory" | "pattern"): string[] {
  const root = kind === "directory" ? path : nearestFolder(path);
  const pattern = kind === "directory" ? modulePattern : relative(root, path).split(sep).join("/");
  if (kind === "pattern" && !globCharacters.test(pattern)) return [];
  const found = [...new Bun.Glob(pattern).scanSync({ cwd: root, onlyFiles: true })];
  return found.filter((file) => hasModuleExtension(file) && !isSkipped(file)).map((file) => join(root, file));
}

/** The folder a glob starts from: the deepest that exists, so that a folder named `[id]` is taken as it is. */
function nearestFolder(path: string): string {
  const parent = dirname(path);
  return parent === path || kindOf(parent) === "directory" ? parent : nearestFolder(parent);
}

function hasModuleExtension(file: string): boolean {
  return moduleExtensions.some((extension) => file.endsWith(extension));
}

function isSkipped(file: string): boolean {
  const segments = file.split(/[/\\]/);
  if (segments.includes("node_modules") || segments.includes("__tests__")) return true;
  return /\.(test|spec)\.[cm]?[jt]sx?$|\.d\.[cm]?ts$/.test(file);
}

function nothingFound(path: string, kind: PathKind, origin: string): ConfigurationError {
  if (kind === "directory") {
    return new ConfigurationError(
      `${origin}: expected modules (${moduleExtensions.join(" ")}) in ${path}, found none that is not a test`,
    );
  }
  const hint = globCharacters.test(path) ? "check the pattern" : "check the path";
  return new ConfigurationError(`${origin}: nothing found at ${path}: ${hint}`);
}
