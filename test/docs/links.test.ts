import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { anchors, documents, documentText, links } from "../support/markdown.ts";

const root = join(import.meta.dir, "..", "..");

describe("links in the documents", () => {
  test.each(documents.map((path) => [path]))("of %s lead to something", (path) => {
    const broken = links(documentText(path)).filter((target) => !leadsSomewhere(path, target));
    expect(broken).toEqual([]);
  });

  test("find every document from the README", () => {
    const found = new Set(["README.md"]);
    for (const path of found) {
      for (const target of links(documentText(path))) {
        const [file = ""] = target.split("#");
        const linked = normalize(join(dirname(path), file));
        if (documents.includes(linked)) found.add(linked);
      }
    }
    expect([...found].sort()).toEqual([...documents].sort());
  });
});

test("the README fits on a few pages", () => {
  expect(documentText("README.md").split("\n").length).toBeLessThanOrEqual(200);
});

function leadsSomewhere(path: string, target: string): boolean {
  if (/^https:\/\//.test(target)) return true;
  const [file = "", anchor] = target.split("#");
  const linked = file === "" ? path : normalize(join(dirname(path), file));
  if (!existsSync(join(root, linked))) return false;
  return anchor === undefined || anchors(documentText(linked)).includes(anchor);
}
