import { describe, expect, test } from "bun:test";
import packageFacts from "../../package.json" with { type: "json" };
import { banner } from "../../src/cli/banner.ts";

const description = {
  identity: "host~bun:1:abcdef",
  store: "redis://localhost:6379/0",
  version: "redis 7.0.15",
  workers: 4,
  slots: 1,
  channels: [
    { name: "critical", weight: 3 },
    { name: "default", weight: 1 },
  ],
  tasks: ["A", "B"],
};

describe("the banner", () => {
  test("shows store, workers, slots, channels and tasks", () => {
    const text = banner(description);
    expect(text).toStartWith(`solid-jobs ${packageFacts.version}  host~bun:1:abcdef\n`);
    expect(text).toMatch(/^ {2}store +redis:\/\/localhost:6379\/0 \(redis 7\.0\.15\)$/m);
    expect(text).toMatch(/^ {2}workers +4 x 1 slot$/m);
    expect(text).toMatch(/^ {2}channels +critical \(weight 3\), default$/m);
    expect(text).toMatch(/^ {2}tasks +A, B$/m);
  });

  test("counts the tasks that do not fit", () => {
    const tasks = Array.from({ length: 15 }, (_, index) => `T${index}`);
    expect(banner({ ...description, tasks })).toContain("T11 and 3 more\n");
  });
});
