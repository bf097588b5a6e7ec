import { join } from "node:path";
import manifest from "../package.json";
import { installedVersion } from "../systems/javascript.ts";

const bench = join(import.meta.dir, "..");

/** Installs the peers, as `bun.lock` has them, when one is missing or old. @throws Error when that fails */
export function ensurePackages(): void {
  const wanted = Object.entries(manifest.dependencies);
  if (wanted.every(([name, version]) => installedVersion(name) === version)) return;
  console.log("bench: installing the packages of the peers");
  const { exitCode } = Bun.spawnSync([process.execPath, "install", "--frozen-lockfile"], {
    cwd: bench,
    stdout: "inherit",
    stderr: "inherit",
  });
  if (exitCode !== 0) throw new Error("the packages in bench/package.json could not be installed");
}
