/**
 * The file in which a worker's jobs count themselves, the same for every language: all numbers are
 * little-endian doubles, all times milliseconds since the epoch with fractions.
 *
 *     0   executed: jobs that ended without an error
 *     8   errors: jobs that threw
 *     16  start of the first job, 0 before it
 *     24  end of the last job, 0 before it
 *     32  samples written
 *     40  three unused doubles
 *     64  a bit for each job that ended without an error: job i is bit (i & 7) of byte (i >> 3);
 *         padded to a multiple of 8 bytes
 *     then the samples, one after the other, three doubles each: index, start, end
 *
 * Each thread or process that runs jobs has a file of its own, `<anything>.marks` in BENCH_FOLDER, of its whole
 * size from the beginning and filled with zeros. It is written through a shared mapping, or from a buffer that is
 * written at least every 25 ms and at the end. A job is a sample when its index is a multiple of
 * BENCH_SAMPLE_EVERY, and there is still room.
 */
export interface MarksLayout {
  /** Jobs of the run: their indexes are 0 to capacity - 1. */
  readonly capacity: number;
  /** Every how many indexes a job's times are kept. */
  readonly sampleEvery: number;
}

/** Places of the numbers at the head, in doubles. */
export const head = { executed: 0, errors: 1, firstMs: 2, lastMs: 3, samples: 4 } as const;
export const headBytes = 64;
export const sampleBytes = 24;

const mostSamples = 20_000;

/** Keeps the times of all jobs, or of 20,000 evenly spread ones where there are more. */
export function layoutFor(jobs: number): MarksLayout {
  return { capacity: jobs, sampleEvery: Math.max(1, Math.ceil(jobs / mostSamples)) };
}

export function bitsBytes({ capacity }: MarksLayout): number {
  return Math.ceil(capacity / 64) * 8;
}

/** Room for each sample, and for some that ran twice. */
export function samplesRoom({ capacity, sampleEvery }: MarksLayout): number {
  return Math.ceil(capacity / sampleEvery) + 64;
}

export function fileBytes(layout: MarksLayout): number {
  return headBytes + bitsBytes(layout) + samplesRoom(layout) * sampleBytes;
}

/** Tells a worker's process where its jobs count themselves. */
export function marksEnvironment(folder: string, layout: MarksLayout): Record<string, string> {
  return {
    BENCH_FOLDER: folder,
    BENCH_CAPACITY: String(layout.capacity),
    BENCH_SAMPLE_EVERY: String(layout.sampleEvery),
  };
}

export function layoutOf(environment: Record<string, string | undefined>): MarksLayout {
  const { BENCH_CAPACITY, BENCH_SAMPLE_EVERY } = environment;
  return { capacity: Number(BENCH_CAPACITY), sampleEvery: Number(BENCH_SAMPLE_EVERY) };
}
