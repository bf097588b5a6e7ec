import { expect, test } from "bun:test";
import { join } from "node:path";
import * as library from "../../src/index.ts";
import { filesOf } from "../support/imports.ts";
import { documents, documentText, section, tableRows } from "../support/markdown.ts";

const root = join(import.meta.dir, "..", "..");
const table = tableRows(section(documentText("docs/reliability.md"), "## Errors"));
const documented = table.flatMap(([codes = ""]) => codes.replaceAll("`", "").split(", "));

/** The codes that the library's errors can have; the gateway speaks to programs in codes of its own. */
async function codesOfTheLibrary(): Promise<string[]> {
  const places =
    /(?:super\(|code: |code \?\? |error\.code : |Stor\w+\(\s*|SolidJobsError\(\s*)"([A-Z][A-Z_]+)"/g;
  const codes = new Set<string>();
  for (const file of filesOf("src/**/*.ts")) {
    if (file.startsWith("src/gateway/")) continue;
    const source = await Bun.file(join(root, file)).text();
    for (const [, code = ""] of source.matchAll(places)) codes.add(code);
  }
  return [...codes];
}

test("docs/reliability.md has every code of the library's errors, and no other", async () => {
  expect(documented.toSorted()).toEqual((await codesOfTheLibrary()).toSorted());
});

test("docs/reliability.md names classes that the package exports", () => {
  const classes = table.map(([, name = ""]) => name);
  expect(classes.filter((name) => !(name in library))).toEqual([]);
});

test("codes named elsewhere in the documents are in that table", () => {
  const families =
    /`((?:STORE|PUBLISH|UNKNOWN|UNDECODABLE|JOB|NODE|THREAD|PAYLOAD|SERVER|CLUSTER|EVICTION)_[A-Z_]+)`/g;
  const named = documents.flatMap((path) =>
    [...documentText(path).matchAll(families)].map(([, code = ""]) => code),
  );
  expect(named.length).toBeGreaterThan(documented.length / 2);
  expect(named.filter((code) => !documented.includes(code) && code !== "NODE_ENV")).toEqual([]);
});
