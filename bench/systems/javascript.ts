import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ClientTask } from "./system.ts";

const packages = join(import.meta.dir, "..", "node_modules");

/** The version of a package of this benchmark; undefined when it is not installed. */
export function installedVersion(name: string): string | undefined {
  const file = join(packages, name, "package.json");
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

/** Why a system whose package this is cannot be measured. */
export function missingPackage(name: string): string | undefined {
  return installedVersion(name) === undefined ? `the package ${name} is not installed here` : undefined;
}

export function packageVersion(name: string): Record<string, string> {
  return { [name]: installedVersion(name) ?? "missing" };
}

/** The command line of a program on Bun: the same Bun that runs the benchmark. */
export function onBun(program: string, ...args: (string | number)[]): string[] {
  return [process.execPath, program, ...args.map(String)];
}

export function clientOnBun(folder: string, url: string, task: ClientTask): string[] {
  return onBun(join(folder, "client.ts"), url, JSON.stringify(task));
}

/** The file that a URL such as `sqlite:<path>` names. */
export function pathOf(url: string): string {
  return url.slice(url.indexOf(":") + 1);
}
