import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { wrongResults } from "../../examples/demo/check.ts";
import { storeIntegrity } from "../../examples/demo/integrity.ts";
import { HashFile } from "../../examples/demo/jobs.ts";
import { appendResult, type Result, ResultReader } from "../../examples/demo/result-log.ts";
import { missingResults } from "../../examples/demo/workload.ts";
import { resetConfiguration } from "../../src/config/process.ts";
import { close, configure } from "../../src/index.ts";
import { RedisServer } from "../support/redis-server.ts";

let folder: string;
let file: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "demo-parts-"));
  file = join(folder, "file.txt");
  await Bun.write(file, "the same line\n".repeat(1000));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What a job finds out about the file. */
async function resultOf(change: Partial<Result> = {}): Promise<Result> {
  const bytes = await Bun.file(file).bytes();
  const sha256 = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
  const gzipBytes = gzipSync(bytes).length;
  const result = { id: "a", file, bytes: bytes.length, gzipBytes, sha256, attempt: 1 };
  return { ...result, worker: 1, startedMs: 0, durationMs: 1, ...change };
}

describe("the demo's check", () => {
  test("accepts a right result", async () => {
    expect(await wrongResults([await resultOf()])).toEqual([]);
  });

  test.each([{ sha256: "0".repeat(64) }, { gzipBytes: 1 }, { bytes: 1 }])(
    "names the file of a wrong result: %j",
    async (change) => {
      const wrong = await wrongResults([await resultOf(), await resultOf(change)]);
      expect(wrong).toEqual([expect.stringContaining(`${file}: the job found`)]);
    },
  );
});

describe("the demo's count of results", () => {
  const workload = { ids: ["a", "b"], failures: new Map([["b", 1]]), dueMs: new Map<string, number>() };

  async function readerOf(results: readonly Result[]): Promise<ResultReader> {
    const own = mkdtempSync(join(folder, "results-"));
    for (const result of results) appendResult(own, result);
    const reader = new ResultReader(own);
    reader.read();
    return reader;
  }

  test("finds nothing missing when each job has its result after its failures", async () => {
    const reader = await readerOf([await resultOf(), await resultOf({ id: "b", attempt: 2 })]);
    expect(missingResults(workload, reader)).toEqual([]);
  });

  test("names a job without a result", async () => {
    expect(missingResults(workload, await readerOf([await resultOf()]))).toEqual(["job b has no result"]);
  });

  test("names a job that did not fail as it was to", async () => {
    const reader = await readerOf([await resultOf(), await resultOf({ id: "b", attempt: 1 })]);
    expect(missingResults(workload, reader)).toEqual(["job b: expected attempt 2 to succeed, 1 did"]);
  });
});

describe.each(["Redis", "the embedded engine"])("the demo's integrity verdict on %s", (engine) => {
  let server: RedisServer;
  let runs = 0;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  beforeEach(() => {
    runs += 1;
    const url = engine === "Redis" ? server.url : `sqlite:${join(folder, `${runs}.sqlite`)}`;
    configure({ url, prefix: `demo${runs}:` });
  });
  afterEach(() => close());
  afterAll(async () => {
    await server.stop();
    resetConfiguration();
  });

  test("is sound when every job is done and none is stored", async () => {
    const { text, problems } = await storeIntegrity(["a"], new Set(["a"]));
    expect(text).toStartWith("sound: 1 done, 0 lost");
    expect(problems).toEqual([]);
  });

  test("tells of a lost job", async () => {
    const { text, problems } = await storeIntegrity(["a", "b"], new Set(["a"]));
    expect(text).toStartWith("NOT SOUND: 1 done, 1 lost");
    expect(problems).toEqual([expect.stringContaining("1 lost")]);
  });

  test("tells of a job that is still stored", async () => {
    const id = await HashFile.enqueue(file, folder, 0);
    const { problems } = await storeIntegrity([id!], new Set([id!]));
    expect(problems).toEqual(["1 jobs are still ready after the node has stopped"]);
  });
});
