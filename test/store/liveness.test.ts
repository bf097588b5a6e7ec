import { describe, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { isEarlierSelf, isProvenDead, ownProof } from "../../src/store/liveness.ts";
import { testUnless } from "../support/skip.ts";
import { until } from "../support/until.ts";

const own = ownProof();
const testHere = testUnless(own.bootId === "" ? "this system has no /proc" : undefined);

/** A node of this machine, as it would be stored, with this process's start time unless another is given. */
function sighting(fields: Partial<typeof own> = {}) {
  return { identity: "n", ...own, ...fields };
}

function stat(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  for await (const chunk of stream) return new TextDecoder().decode(chunk).trim();
  throw new Error("expected a line");
}

describe("a process is proven dead", () => {
  testHere("when its pid is gone", async () => {
    const child = Bun.spawn(["true"]);
    await child.exited;
    expect(isProvenDead(sighting({ pid: child.pid }), own)).toBe(true);
  });

  testHere("when its pid is a zombie's", async () => {
    const parent = Bun.spawn(["sh", "-c", "sleep 60 & echo $!; exec sleep 60"], { stdout: "pipe" });
    try {
      const pid = Number(await firstLine(parent.stdout));
      // Once the shell has become a `sleep`, nobody waits for its child: killed before, the shell could reap it.
      await until(() => readFileSync(`/proc/${parent.pid}/comm`, "utf8").trim() === "sleep");
      process.kill(pid, "SIGKILL");
      await until(() => stat(pid)[0] === "Z");
      expect(isProvenDead(sighting({ pid, pidStarted: stat(pid)[19]! }), own)).toBe(true);
    } finally {
      parent.kill();
      await parent.exited;
    }
  });

  testHere("when its pid belongs to a process with another start time", () => {
    expect(isProvenDead(sighting({ pidStarted: "1" }), own)).toBe(true);
  });
});

describe("a process is not proven dead", () => {
  testHere("while it lives", () => {
    expect(isProvenDead(sighting(), own)).toBe(false);
    expect(isProvenDead(sighting({ pid: process.ppid, pidStarted: stat(process.ppid)[19]! }), own)).toBe(
      false,
    );
  });

  testHere("by a pid of another boot or another namespace, where it means nothing", async () => {
    const child = Bun.spawn(["true"]);
    await child.exited;
    const { pid } = child;
    expect(isProvenDead(sighting({ pid, bootId: "another" }), own)).toBe(false);
    expect(isProvenDead(sighting({ pid, pidNamespace: "pid:[1]" }), own)).toBe(false);
  });

  testHere("where a system tells nothing, or the node told nothing", async () => {
    const child = Bun.spawn(["true"]);
    await child.exited;
    const silent = { ...own, bootId: "", pidNamespace: "" };
    expect(isProvenDead(sighting({ ...silent, pid: child.pid }), silent)).toBe(false);
    expect(isProvenDead({ identity: "n" }, own)).toBe(false);
  });
});

testHere("an earlier self has this process's pid and start time, in this boot and namespace", () => {
  expect(isEarlierSelf(sighting(), own)).toBe(true);
  expect(isEarlierSelf(sighting({ pidStarted: "1" }), own)).toBe(false);
  expect(isEarlierSelf(sighting({ pid: process.ppid }), own)).toBe(false);
  expect(isEarlierSelf(sighting({ bootId: "another" }), own)).toBe(false);
});
