import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ConfigurationError } from "../foundation/errors.ts";
import { type Environment, runMode } from "./environment.ts";

/** Below the workspace root. */
const defaultFile = join(".solid-jobs", "jobs.sqlite");

/** What a default depends on. */
export interface Surroundings {
  readonly env: Environment;
  /** The current folder. */
  readonly cwd: string;
}

/**
 * The URL of the store where none is given: the embedded engine's file at the workspace root. With
 * NODE_ENV=test it is a temporary file of this process, removed at its end.
 *
 * @throws ConfigurationError with NODE_ENV=production
 */
export function defaultStoreUrl({ env, cwd }: Surroundings): string {
  const mode = runMode(env);
  if (mode === "production") {
    throw new ConfigurationError(
      "no store URL, which NODE_ENV=production requires: publishers and nodes in different folders would use " +
        "different files, and jobs would seem to vanish; set SOLID_JOBS_URL (such as redis://host:6379/0, or " +
        "sqlite:/srv/app/jobs.sqlite on one machine), --url, or url in the config file",
    );
  }
  return `sqlite:${mode === "test" ? temporaryFile() : join(workspaceRoot(cwd), defaultFile)}`;
}

/**
 * The nearest folder upward with a `bun.lock`, or with a package.json that has `workspaces`: all packages of
 * a workspace share one store. Without one the nearest folder with a package.json, else `folder` itself.
 */
export function workspaceRoot(folder: string): string {
  let nearestPackage: string | undefined;
  for (let candidate = folder; ; candidate = dirname(candidate)) {
    const manifest = textOf(join(candidate, "package.json"));
    if (textOf(join(candidate, "bun.lock")) !== undefined || hasWorkspaces(manifest)) return candidate;
    if (manifest !== undefined) nearestPackage ??= candidate;
    if (candidate === dirname(candidate)) return nearestPackage ?? folder;
  }
}

/** A package.json that cannot be read as JSON counts as one without workspaces: it is not ours to judge. */
function hasWorkspaces(manifest: string | undefined): boolean {
  if (manifest === undefined) return false;
  try {
    const content: unknown = JSON.parse(manifest);
    return typeof content === "object" && content !== null && "workspaces" in content;
  } catch {
    return false;
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // not there, or not for us to read
  }
}

const slotKey = Symbol.for("solid-jobs.temporary-store");

/** One for each process; its threads get the path with their node's settings. */
function temporaryFile(): string {
  const holder = globalThis as { [slotKey]?: string };
  if (holder[slotKey] === undefined) {
    const folder = mkdtempSync(join(tmpdir(), "solid-jobs-"));
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
    holder[slotKey] = join(folder, "jobs.sqlite");
  }
  return holder[slotKey];
}
