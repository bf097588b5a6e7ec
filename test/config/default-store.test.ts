import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { defaultStoreUrl, workspaceRoot } from "../../src/config/default-store.ts";
import { settingsFrom } from "../../src/config/resolve.ts";
import { ConfigurationError } from "../../src/foundation/errors.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

/** A folder three below the given one. */
function deepIn(folder: TemporaryFolder): string {
  const deep = join(folder.path, "packages", "mailer", "src");
  mkdirSync(deep, { recursive: true });
  return deep;
}

describe("the workspace root", () => {
  test.each<[string, Record<string, string>, string]>([
    ["a bun.lock above packages", { "bun.lock": "", "packages/mailer/package.json": "{}" }, "."],
    [
      "a package.json with workspaces above packages",
      { "package.json": '{"workspaces": ["packages/*"]}', "packages/mailer/package.json": "{}" },
      ".",
    ],
    [
      "the nearer of two roots",
      { "bun.lock": "", "packages/mailer/bun.lock": "", "packages/mailer/package.json": "{}" },
      "packages/mailer",
    ],
    [
      "the nearest package.json where nothing tells of a workspace",
      { "package.json": "{}", "packages/mailer/package.json": "not JSON" },
      "packages/mailer",
    ],
    ["the current folder where there is no package at all", {}, "packages/mailer/src"],
  ])("is %s", (_name, files, expected) => {
    using folder = temporaryFolder();
    const deep = deepIn(folder);
    for (const [name, content] of Object.entries(files)) folder.write(name, content);
    expect(workspaceRoot(deep)).toBe(join(folder.path, expected));
  });
});

describe("without a URL", () => {
  test("publishers and nodes of one workspace use one file, whatever folder they run in", () => {
    using folder = temporaryFolder();
    const deep = deepIn(folder);
    folder.write("bun.lock");
    const expected = `sqlite:${join(folder.path, ".solid-jobs", "jobs.sqlite")}`;
    expect(settingsFrom({ env: {}, cwd: deep }).url).toBe(expected);
    expect(settingsFrom({ env: {}, cwd: folder.path }).url).toBe(expected);
    expect(existsSync(join(folder.path, ".solid-jobs"))).toBe(false);
  });

  test("production is refused, with the reason and what to do", () => {
    // Also as `set NODE_ENV=production && bun ...` sets it on Windows.
    for (const mode of ["production", "production "]) {
      const production = () => defaultStoreUrl({ env: { NODE_ENV: mode }, cwd: "/" });
      expect(production).toThrow(ConfigurationError);
      expect(production).toThrow(/different files.*set SOLID_JOBS_URL/);
    }
  });

  test("a test has a file of its own that only this user can read, the same at every call", () => {
    const env = { NODE_ENV: "test" };
    const { url } = settingsFrom({ env });
    expect(settingsFrom({ env, cwd: "/" }).url).toBe(url);
    const folder = dirname(url.slice("sqlite:".length));
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  test("a test's file is gone when its process has ended, and no other process has the same", () => {
    const module = JSON.stringify(import.meta.resolve("../../src/config/resolve.ts"));
    const program = `
      const { settingsFrom } = await import(${module});
      const { url } = settingsFrom();
      require("node:fs").writeFileSync(url.slice(7), "");
      console.log(url.slice(7));`;
    const paths = [1, 2].map(() => {
      const env = { ...process.env, NODE_ENV: "test", SOLID_JOBS_URL: "", REDIS_URL: "" };
      const run = Bun.spawnSync([process.execPath, "-e", program], { env, stderr: "inherit" });
      return run.stdout.toString().trim();
    });
    expect(paths[0]).toEndWith("jobs.sqlite");
    expect(paths[0]).not.toBe(paths[1]!);
    expect(paths.filter((path) => existsSync(dirname(path)))).toEqual([]);
  });
});

test("jobs published without any setting are stored in the workspace, in a folder that git ignores", () => {
  using folder = temporaryFolder();
  folder.write("package.json", "{}");
  const main = folder.write(
    "main.ts",
    `import { Catalog, close, Task } from ${JSON.stringify(import.meta.resolve("../../src/index.ts"))};
    class Greet extends Task { executeTask(name: string) {} }
    const id = await Greet.enqueue("you");
    const catalog = new Catalog();
    console.log((await catalog.locate(id!))?.place.state, catalog.address);
    await catalog.close();
    await close();`,
  );
  const env = { ...process.env, NODE_ENV: "development", SOLID_JOBS_URL: "", REDIS_URL: "" };
  const run = Bun.spawnSync([process.execPath, main], { cwd: folder.path, env, stderr: "inherit" });
  const path = join(folder.path, ".solid-jobs", "jobs.sqlite");
  expect(run.stdout.toString()).toBe(`ready sqlite:${path}\n`);
  expect(readFileSync(join(folder.path, ".solid-jobs", ".gitignore"), "utf8")).toBe("*\n");
});
