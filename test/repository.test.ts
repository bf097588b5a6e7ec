import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import packageJson from "../package.json" with { type: "json" };
import { filesOf } from "./support/imports.ts";
import { testUnless } from "./support/skip.ts";

const root = join(import.meta.dir, "..");
const git = Bun.spawnSync(["git", "ls-files", "-z"], { cwd: root, stderr: "ignore" });
const isCheckout = git.exitCode === 0 && git.stdout.length > 0;

/** Every committed text that matches, as `file: match`. */
async function committed(pattern: RegExp): Promise<string[]> {
  const files = git.stdout.toString().split("\0").filter(Boolean);
  const found: string[] = [];
  for (const file of files) {
    const source = Bun.file(join(root, file));
    if (!(await source.exists())) continue;
    for (const match of (await source.text()).matchAll(pattern)) found.push(`${file}: ${match[0]}`);
  }
  return found;
}

describe("committed files", () => {
  const testInCheckout = testUnless(isCheckout ? undefined : "needs a git checkout");

  testInCheckout("hold no address of a package registry", async () => {
    expect(
      await committed(/\b(?:registry\.[a-z]+js\.(?:org|com)|registry\.yarn[a-z]+\.com|npm\.jsr\.io)\b/g),
    ).toEqual([]);
  });

  testInCheckout("hold no path of somebody's machine", async () => {
    expect(await committed(/(?<![\w.~-])\/(?:root|work|home\/\w+|Users\/\w+)\/[\w.-]+/g)).toEqual([]);
  });

  testInCheckout("have one lock file, Bun's", () => {
    const names = git.stdout.toString().split("\0");
    expect(names).toContain("bun.lock");
    expect(names.filter((name) => /(?:package-lock\.json|yarn\.lock|pnpm-lock\.yaml)$/.test(name))).toEqual(
      [],
    );
  });
});

test("bun.lock is in step with package.json and holds no address", async () => {
  const text = await Bun.file(join(root, "bun.lock")).text();
  const lock = Bun.JSONC.parse(text) as { workspaces: Record<string, Record<string, unknown>> };
  expect(lock.workspaces[""]).toEqual({
    name: packageJson.name,
    dependencies: packageJson.dependencies,
    devDependencies: packageJson.devDependencies,
  });
  expect(text).not.toMatch(/https?:/);
});

test("every script begins with its purpose, KEYS, ARGV and what it returns", async () => {
  const scripts = filesOf("lua/**/*.lua");
  expect(scripts).toContain("lua/cycle.lua");
  for (const file of scripts) {
    const source = await Bun.file(join(root, file)).text();
    const header = /^(?:#!lua[^\n]*\n)?((?:--[^\n]*\n)+)/.exec(source)?.[1] ?? "";
    expect({ file, header }).toEqual({
      file,
      header: expect.stringMatching(/KEYS[\s\S]*ARGV[\s\S]*[Rr]eturns/),
    });
  }
});
