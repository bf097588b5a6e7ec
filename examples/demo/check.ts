import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Result } from "./result-log.ts";

/** Files under way at a time. */
const lanes = 4;

/** What the results should be, one line for each that is not. */
export async function wrongResults(results: readonly Result[]): Promise<string[]> {
  const wrong: string[] = [];
  const waiting = results.values();
  const lane = async () => {
    for (const result of waiting) {
      const problem = await difference(result);
      if (problem !== undefined) wrong.push(`${result.file}: ${problem}`);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return wrong;
}

/** Computes both values again in another way than the job: as streams, in this process. */
async function difference({ file, sha256, bytes, gzipBytes }: Result): Promise<string | undefined> {
  const hash = createHash("sha256");
  let size = 0;
  let gzipSize = 0;
  const hashing = async function* (source: AsyncIterable<Buffer>) {
    for await (const chunk of source) {
      size += chunk.length;
      hash.update(chunk);
      yield chunk;
    }
  };
  const counting = new Writable({
    write(chunk: Buffer, _encoding, done) {
      gzipSize += chunk.length;
      done();
    },
  });
  await pipeline(createReadStream(file), hashing, createGzip(), counting);
  const found = `${size} bytes, gzip ${gzipSize}, ${hash.digest("hex")}`;
  const told = `${bytes} bytes, gzip ${gzipBytes}, ${sha256}`;
  return found === told ? undefined : `the job found ${told}; the check found ${found}`;
}
