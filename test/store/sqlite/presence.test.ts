import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Presence } from "../../../src/store/sqlite/presence.ts";

test("a node's lock is found by whoever reaches the database through a link", () => {
  const folder = mkdtempSync(join(tmpdir(), "solid-jobs-presence-"));
  try {
    const path = join(folder, "jobs.sqlite");
    const link = join(folder, "link.sqlite");
    new Database(path).close();
    symlinkSync(path, link);
    const node = new Presence(path);
    const judge = new Presence(link);
    node.hold("node-1");
    expect(judge.stateOf("node-1")).toBe("alive");
    node.close();
    expect(judge.stateOf("node-1")).toBe("gone");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
