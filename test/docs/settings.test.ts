import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import {
  fileKey,
  longFlag,
  type SettingRow,
  settingNames,
  settingsMarkdown,
  settingsTable,
  variableName,
} from "../../src/config/table.ts";
import { filesOf } from "../support/imports.ts";
import { codeBlocks, documents, documentText, inlineCode, section } from "../support/markdown.ts";

const root = join(import.meta.dir, "..", "..");
const configuration = documentText("docs/configuration.md");
const rows = settingNames.map((name) => [name, settingsTable[name] as SettingRow<unknown>] as const);
const names = rows.flatMap(([name, { alias }]) => (alias === undefined ? [name] : [name, alias.name]));

/** What a Python node finds the gateway's socket by. */
const variableOfPython = "SOLID_JOBS_GATEWAY_SOCKET";

/** The flags of the table, and those that the command line's files declare themselves. */
function flagsOf(files: readonly string[]): string[] {
  const ofTable = rows
    .flatMap(([, { flag, alias }]) => [flag, alias?.flag])
    .filter((flag) => flag !== undefined);
  const sources = files.map((file) => readFileSync(join(root, file), "utf8")).join("\n");
  const declared = [...sources.matchAll(/"(?:-\w, )?(--[a-z-]+)(?: <[^"]*)?"/g)].map(([, flag = ""]) => flag);
  return [...ofTable.map(longFlag), ...declared];
}

/** The formatter aligns the cells of a table. */
function unpadded(line: string): string {
  return line
    .replaceAll(/ +/g, " ")
    .replaceAll(/ ?-{3,} ?/g, "---")
    .replaceAll("|  |", "| |");
}

describe("docs/configuration.md", () => {
  test("holds the table of settings as the code has it (see settingsMarkdown)", () => {
    const lines = section(configuration, "## All settings").split("\n");
    const table = lines.filter((line) => line.startsWith("|"));
    expect(table.map(unpadded)).toEqual(settingsMarkdown().map(unpadded));
  });

  test("shows a config file whose keys are settings", () => {
    const toml = codeBlocks(configuration).find(({ language }) => language === "toml")?.code ?? "";
    const keys = Object.keys(Bun.TOML.parse(toml));
    expect(keys.length).toBeGreaterThan(0);
    expect(keys.filter((key) => !names.map(fileKey).includes(key))).toEqual([]);
  });
});

/** Of `bun build`. */
const flagsOfBuild = [
  ...(packageJson.scripts["build:cli"].match(/--[a-z-]+/g) ?? []),
  "--no-compile-autoload-dotenv",
  "--target",
];

describe("the documents name no", () => {
  const texts = documents.map((path) => [path] as const);

  test.each(texts)("variable of ours that does not exist: %s", (path) => {
    const known = [...names.map(variableName), "SOLID_JOBS_CONFIG", variableOfPython];
    const named = documentText(path).match(/SOLID_JOBS_[A-Z_]+/g) ?? [];
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });

  test.each(texts)("flag that neither the command nor Bun has: %s", (path) => {
    const known = [...flagsOf(filesOf("src/cli/*.ts")), "--help", "--version"];
    const bun = ["--bun", "--hot", "--watch", "--env-file", "--no-install", ...flagsOfBuild];
    const text = documentText(path);
    const code = [...inlineCode(text), ...codeBlocks(text).map((block) => block.code)];
    const named = code.flatMap((piece) => piece.match(/(?<![\w-])--[a-z][a-z-]*/g) ?? []);
    expect(named.filter((flag) => !known.includes(flag) && !bun.includes(flag))).toEqual([]);
  });
});
