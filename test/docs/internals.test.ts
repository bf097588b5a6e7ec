import { describe, expect, test } from "bun:test";
import { basename } from "node:path";
import { filesOf } from "../support/imports.ts";
import { documentText, inlineCode } from "../support/markdown.ts";

const named = inlineCode(documentText("docs/internals.md"));
const files = [...filesOf("src/**/*.ts"), ...filesOf("lua/*.lua"), ...filesOf("test/*.ts")];

function exists(name: string): boolean {
  if (name.includes("*")) return files.some((file) => new Bun.Glob(name).match(file));
  if (name.includes("/")) return files.some((file) => file === name || file === `src/${name}`);
  return files.some((file) => basename(file) === name);
}

describe("docs/internals.md", () => {
  test("names files that exist", () => {
    const names = named.filter((name) => /\.(?:ts|lua)$/.test(name));
    expect(names.length).toBeGreaterThan(30);
    expect(names.filter((name) => !exists(name))).toEqual([]);
  });

  test("stays short", () => {
    expect(documentText("docs/internals.md").split("\n").length).toBeLessThan(100);
  });
});
