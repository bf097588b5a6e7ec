import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../package.json" with { type: "json" };
import { filesOf, importsOf } from "./support/imports.ts";

/** Low to high: a part may import itself and what stands before it. `index.ts` stands above all. */
const layers = [
  "foundation",
  "envelope",
  "instrumentation",
  "interceptor",
  "failure",
  "config",
  "store",
  "gateway",
  "publisher",
  "task",
  "worker",
  "conductor",
  "catalog",
  "lab",
  "dashboard",
  "cli",
];

/** The rank of a source file, or undefined for a folder that the list does not name. */
function rank(path: string): number | undefined {
  const [, part, inside] = path.split("/");
  if (inside === undefined) return layers.length;
  const index = layers.indexOf(part!);
  return index === -1 ? undefined : index;
}

/** The compiled command hands the public names to modules that it loads from files. */
const handsOutPublicNames = "src/cli/own-copy.ts";

const root = join(import.meta.dir, "..");
const sourceImports = await importsOf("src/**/*.ts");
const arrow = ({ from, name }: { from: string; name: string }) => `${from} -> ${name}`;

describe("the layers", () => {
  test("every folder of src has its place in the list", () => {
    const unplaced = filesOf("src/**/*.{ts,tsx}").filter((file) => rank(file) === undefined);
    expect(unplaced).toEqual([]);
  });

  test("imports only point down, types included", () => {
    const upward = sourceImports.filter(
      ({ from, to }) =>
        to?.startsWith("src/") &&
        (rank(to) ?? 0) > (rank(from) ?? Number.POSITIVE_INFINITY) &&
        !(from === handsOutPublicNames && to === "src/index.ts"),
    );
    expect(upward.map(arrow)).toEqual([]);
    expect(sourceImports.length).toBeGreaterThan(10);
  });

  test("no file imports itself through others", () => {
    const edges = new Map<string, string[]>();
    for (const { from, to, isEntry } of sourceImports) {
      if (to !== undefined && !isEntry) edges.set(from, [...(edges.get(from) ?? []), to]);
    }
    expect(ringIn(edges)).toEqual([]);
  });

  test("the two engines never meet", () => {
    const meetings = sourceImports.filter(
      ({ from, to }) =>
        (from.startsWith("src/store/redis/") && to?.startsWith("src/store/sqlite/")) ||
        (from.startsWith("src/store/sqlite/") && to?.startsWith("src/store/redis/")),
    );
    expect(meetings.map(arrow)).toEqual([]);
  });

  test("src imports only itself, the scripts and the packages that consumers get", () => {
    const packages = Object.keys(packageJson.dependencies);
    const foreign = sourceImports.filter(({ name, to }) => {
      if (to !== undefined) return !/^(?:src|lua)\//.test(to) && to !== "package.json";
      return name !== "bun" && !/^(?:bun|node):/.test(name) && !packages.includes(name);
    });
    expect(foreign.map(arrow)).toEqual([]);
  });

  test("every relative import names a file that exists", () => {
    const broken = sourceImports.filter(({ to }) => to !== undefined && !existsSync(join(root, to)));
    expect(broken.map(arrow)).toEqual([]);
  });
});

describe("the borders", () => {
  test("the command imports the command line only", async () => {
    const imports = (await importsOf("bin/solid-jobs.ts")).map(({ to }) => to ?? "a package");
    expect(imports.filter((to) => !to.startsWith("src/cli/"))).toEqual([]);
  });

  test("each script is imported by exactly one file, of the Redis store", () => {
    const scripts = filesOf("lua/**/*.lua");
    expect(scripts).toContain("lua/cycle.lua");
    for (const script of scripts) {
      const importers = sourceImports.filter(({ to }) => to === script).map(({ from }) => from);
      expect({ script, importers }).toEqual({
        script,
        importers: [expect.stringMatching(/^src\/store\/redis\//)],
      });
    }
  });

  test("index files stand only where package.json exports them, and list their names", async () => {
    const exported = Object.values(packageJson.exports).flatMap((entry) =>
      typeof entry === "string" ? [] : [entry.bun.replace("./", "")],
    );
    expect(filesOf("src/**/index.{ts,tsx}")).toEqual(exported.sort());
    for (const file of exported) {
      expect(await Bun.file(join(root, file)).text()).not.toMatch(/^export \*/m);
    }
  });
});

/** The files of a ring of imports, or nothing. */
function ringIn(edges: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const next of edges.get(file) ?? []) {
      const ring = visit(next, [...path, file]);
      if (ring.length > 0) return ring;
    }
    done.add(file);
    return [];
  };
  for (const file of edges.keys()) {
    const ring = visit(file, []);
    if (ring.length > 0) return ring;
  }
  return [];
}
