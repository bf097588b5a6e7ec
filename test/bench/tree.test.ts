import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ProcessTree, parseRollup, parseStat, treeOf } from "../../bench/method/tree.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

const stat = ({
  pid,
  parent,
  cpu = [0, 0, 0, 0],
  name = "bun",
}: {
  pid: number;
  parent: number;
  cpu?: number[];
  name?: string;
}) => `${pid} (${name}) S ${parent} ${pid} ${pid} 0 -1 4194304 1 2 3 4 ${cpu.join(" ")} 20 0 8 0 100 1 2`;

describe("/proc/<pid>/stat", () => {
  test("gives pid, parent and the time of the process and of those it waited for", () => {
    expect(parseStat(stat({ pid: 7, parent: 3, cpu: [10, 20, 300, 400] }))).toEqual({
      ...{ pid: 7, parent: 3, cpuTicks: 730 },
    });
  });

  test("a name with blanks and brackets does not shift the fields", () => {
    expect(parseStat(stat({ pid: 7, parent: 3, cpu: [1, 1, 1, 1], name: "a) S 9 (b" }))).toEqual({
      ...{ pid: 7, parent: 3, cpuTicks: 4 },
    });
  });

  test("another text is refused", () => {
    expect(() => parseStat("7 (bun) S")).toThrow("expected the text of /proc/<pid>/stat");
  });
});

test("a tree holds children and children's children, and nobody else's", () => {
  const all = [
    { pid: 1, parent: 0 },
    { pid: 5, parent: 4 },
    { pid: 4, parent: 2 },
    { pid: 2, parent: 1 },
    { pid: 9, parent: 1 },
  ].map((each) => ({ ...each, cpuTicks: 0 }));
  expect(treeOf(2, all).map(({ pid }) => pid)).toEqual([2, 4, 5]);
  expect(treeOf(77, all)).toEqual([]);
});

test("Rss and Pss are read from a rollup, and not Pss_Anon for Pss", () => {
  const text =
    "0-1 ---p 0 00:00 0 [rollup]\nRss:   2048 kB\nPss_Anon:  9 kB\nPss:  1024 kB\nPss_Dirty: 7 kB\n";
  expect(parseRollup(text)).toEqual({ rssMiB: 2, pssMiB: 1 });
});

describe("a sample", () => {
  function write(proc: TemporaryFolder, pid: number, given: { parent: number; cpu: number[] }): void {
    proc.write(`${pid}/stat`, stat({ pid, ...given }));
    proc.write(`${pid}/smaps_rollup`, "Rss:  10240 kB\nPss:  5120 kB\n");
  }

  test("adds up the tree; what a descendant used stays counted when it is gone", () => {
    using proc = temporaryFolder();
    proc.write("not-a-process/stat", "nothing");
    write(proc, 10, { parent: 1, cpu: [100, 0, 0, 0] });
    write(proc, 11, { parent: 10, cpu: [50, 50, 0, 0] });
    write(proc, 12, { parent: 1, cpu: [9999, 0, 0, 0] });
    const tree = new ProcessTree(10, proc.path);
    expect(tree.sample()).toEqual({ cpuSeconds: 2, rssMiB: 20, pssMiB: 10, processes: 2 });
    rmSync(join(proc.path, "11"), { recursive: true });
    expect(tree.sample()).toEqual({ cpuSeconds: 2, rssMiB: 10, pssMiB: 5, processes: 1 });
    write(proc, 10, { parent: 1, cpu: [120, 0, 100, 0] });
    expect(tree.sample()).toMatchObject({ cpuSeconds: 2.2 });
  });

  test("of a process that has ended is empty", () => {
    using proc = temporaryFolder();
    expect(new ProcessTree(4711, proc.path).sample()).toEqual({
      ...{ cpuSeconds: 0, rssMiB: 0, pssMiB: 0, processes: 0 },
    });
  });

  test("tells each thread's time on a processor", () => {
    using proc = temporaryFolder();
    write(proc, 10, { parent: 1, cpu: [0, 0, 0, 0] });
    proc.write("10/task/10/schedstat", "2000000000 5 6\n");
    proc.write("10/task/14/schedstat", "500000 5 6\n");
    expect(new ProcessTree(10, proc.path).threadSeconds()).toEqual(
      new Map([
        ["10", 2],
        ["14", 0.0005],
      ]),
    );
  });
});
