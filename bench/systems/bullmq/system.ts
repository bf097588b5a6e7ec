import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { clientOnBun, installedVersion, missingPackage, onBun } from "../javascript.ts";
import { loopShapes } from "../shapes.ts";
import type { System } from "../system.ts";

const packageName = "bullmq";
const versions = () => ({
  bullmq: installedVersion(packageName) ?? "missing",
  ioredis: installedVersion("ioredis") ?? "missing",
});

/** One process without threads: its stalled check puts the jobs of a dead worker back. */
export const bullmq: System = {
  name: "bullmq",
  role: "peer",
  engine: "redis",
  keepsJobs: true,
  pace: 1,
  publishModes: ["single", "hundred", "bulk"],
  plans: true,
  absence: () => missingPackage(packageName),
  versions,
  shapes: loopShapes,
  supports: () => true,
  worker: (url, { slots }) => ({ argv: onBun(join(import.meta.dir, "worker.ts"), url, slots) }),
  client: (url, task) => clientOnBun(import.meta.dir, url, task),
};

/** The same two programs on Node: Bun makes JavaScript of them, which finds the packages where they are. */
export const bullmqOnNode: System = {
  ...bullmq,
  name: "bullmq-node",
  absence: () =>
    missingPackage(packageName) ?? (nodeVersion() === undefined ? "node is not on PATH" : undefined),
  versions: () => ({ ...versions(), node: nodeVersion() ?? "missing" }),
  // Bun.sql is Bun's.
  supports: (workload) => workload !== "postgres",
  worker: (url, { slots }) => ({ argv: ["node", forNode("worker"), url, String(slots)] }),
  client: (url, task) => ["node", forNode("client"), url, JSON.stringify(task)],
};

function nodeVersion(): string | undefined {
  if (Bun.which("node") === null) return undefined;
  return Bun.spawnSync(["node", "--version"]).stdout.toString().trim();
}

const built = new Map<string, string>();

function forNode(program: "worker" | "client"): string {
  const known = built.get(program);
  if (known !== undefined) return known;
  const folder = join(import.meta.dir, "..", "..", "node_modules", ".bench");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `bullmq-${program}.mjs`);
  const source = join(import.meta.dir, `${program}.ts`);
  const flags = ["--target=node", "--packages=external", "--outfile", file];
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, "build", source, ...flags]);
  if (exitCode !== 0) throw new Error(`${source} could not be built for Node: ${stderr.toString()}`);
  built.set(program, file);
  return file;
}
