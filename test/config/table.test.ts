import { describe, expect, test } from "bun:test";
import { settingsFrom } from "../../src/config/resolve.ts";
import {
  fileKey,
  longFlag,
  type SettingRow,
  settingNames,
  settingsMarkdown,
  settingsTable,
  variableName,
} from "../../src/config/table.ts";

const rows = Object.values(settingsTable) as readonly SettingRow<unknown>[];
const place = { origin: "a test", folder: "/" };

describe("the table of settings", () => {
  test("has a row for each resolved setting and no other", () => {
    expect(Object.keys(settingsFrom({ env: {} })).sort()).toEqual([...settingNames].sort());
  });

  test("has defaults that pass their own rules", () => {
    for (const { rule, initial } of rows) {
      const value = initial({ env: {}, cwd: "/" });
      if (value !== undefined) expect(rule.read(value, place)).toEqual({ isValid: true, value });
    }
  });

  test("offers the flags of the command line and no others", () => {
    const flags = rows.flatMap((row) => [row.flag, row.alias?.flag]).filter((flag) => flag !== undefined);
    expect(flags.map(longFlag).sort()).toEqual(
      "--channel --concurrency --log-level --redis-url --require --slots --timeout --url --watch".split(" "),
    );
  });

  test("derives keys and variables from names", () => {
    expect(fileKey("onComplexArguments")).toBe("on_complex_arguments");
    expect(variableName("onComplexArguments")).toBe("SOLID_JOBS_ON_COMPLEX_ARGUMENTS");
  });

  test("is rendered as one Markdown line for each setting", () => {
    const lines = settingsMarkdown();
    expect(lines).toHaveLength(settingNames.length + 2);
    expect(lines).toContain(
      "| `slots` | `SOLID_JOBS_SLOTS` | `-s, --slots <number>` | 1 | a whole number from 1 to 1000 | Jobs at a time in each worker |",
    );
    expect(lines[2]).toStartWith(
      "| `url`, `redis_url` | `SOLID_JOBS_URL`, `SOLID_JOBS_REDIS_URL`, `REDIS_URL` |",
    );
  });
});
