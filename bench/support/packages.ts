import { existsSync } from "node:fs";
import { join } from "node:path";

const bench = join(import.meta.dir, "..");

/** Installs the peers, as `bun.lock` has them, when they are missing. @throws Error when that fails */
export function ensurePackages(): void {
  if (existsSync(join(bench, "node_modules", "bullmq", "package.json"))) return;
  console.log("bench: installing the packages of the peers");
  const { exitCode } = Bun.spawnSync([process.execPath, "install", "--frozen-lockfile"], {
    cwd: bench,
    stdout: "inherit",
    stderr: "inherit",
  });
  if (exitCode !== 0) throw new Error("the packages in bench/package.json could not be installed");
}
