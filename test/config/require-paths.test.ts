import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { expandRequire } from "../../src/config/require-paths.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

function folderWithModules() {
  const folder = temporaryFolder();
  const names = ["a.ts", "b.tsx", "c.js", "d.mjs", "e.cjs", "f.mts", "g.cts", "deep/er/h.ts"];
  const others = [
    "a.test.ts",
    "b.spec.tsx",
    "c.d.ts",
    "d.d.mts",
    "notes.md",
    "__tests__/x.ts",
    "node_modules/p/index.js",
    ".hidden/y.ts",
    ".z.ts",
  ];
  for (const name of [...names, ...others]) folder.write(name);
  return { folder, modules: names.map((name) => join(folder.path, name)).sort() };
}

describe("paths to require", () => {
  test("a directory gives its modules at any depth, without tests, declarations, packages and dotfiles", () => {
    const { folder, modules } = folderWithModules();
    using _ = folder;
    expect(expandRequire([folder.path], "flag --require")).toEqual(modules);
  });

  test("a glob gives the same kinds of files", () => {
    const { folder, modules } = folderWithModules();
    using _ = folder;
    expect(expandRequire([join(folder.path, "**/*")], "flag --require")).toEqual(modules);
    expect(expandRequire([join(folder.path, "*.{ts,js}")], "flag --require")).toEqual([
      join(folder.path, "a.ts"),
      join(folder.path, "c.js"),
    ]);
  });

  test("each module comes once, in order, however often it is matched", () => {
    using folder = temporaryFolder();
    const [b, a] = [folder.write("b.ts"), folder.write("a.ts")];
    expect(expandRequire([b, folder.path, join(folder.path, "*.ts"), a], "x")).toEqual([a, b]);
  });

  test("a shell's expansion may name tests among modules, but not tests alone", () => {
    using folder = temporaryFolder();
    const [module, tested] = [folder.write("a.ts"), folder.write("a.test.ts")];
    expect(expandRequire([module, tested], "flag --require")).toEqual([module]);
    expect(() => expandRequire([tested], "flag --require")).toThrow(
      /^flag --require: expected modules with tasks, got only tests or declarations: .*a\.test\.ts$/,
    );
  });

  test("names with glob characters that exist are taken as they are", () => {
    using folder = temporaryFolder();
    const named = folder.write("app/[id]/jobs.ts");
    const other = folder.write("app/[id]/more/jobs.ts");
    expect(expandRequire([named], "x")).toEqual([named]);
    expect(expandRequire([join(folder.path, "app/[id]/**/*.ts")], "x")).toEqual([named, other]);
  });

  test("folders above the given one do not count as tests", () => {
    using folder = temporaryFolder();
    const module = folder.write("__tests__/project/jobs.ts");
    expect(expandRequire([join(folder.path, "__tests__/project")], "x")).toEqual([module]);
  });

  test.each(["missing.ts", "missing/*.ts", "*.nothing", "empty"])("%s is refused by name", (name) => {
    using folder = temporaryFolder();
    folder.write("empty/readme.md");
    folder.write("jobs.ts");
    const path = join(folder.path, name);
    expect(() => expandRequire([join(folder.path, "jobs.ts"), path], "flag --require")).toThrow(path);
  });

  test("a file that is no module is refused", () => {
    using folder = temporaryFolder();
    const file = folder.write("jobs.rb");
    expect(() => expandRequire([file], "flag --require")).toThrow(/expected a module \(\.ts .*jobs\.rb/);
  });
});
