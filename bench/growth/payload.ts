import type { Dimension, Point } from "./dimension.ts";
import { jobsOf } from "./dimension.ts";
import { working } from "./working.ts";

/** What an envelope takes besides its ballast. */
const envelopeBytes = 250;
/** Of all jobs of a size together, in a full run. */
const mostBytes = 400 * 2 ** 20;

/** Bytes of a job. */
export const payload: Dimension = {
  name: "payload",
  unit: "bytes",
  title: "bytes of a stored job (1 worker x 10)",
  statement:
    "above 10 KiB a job costs about in proportion to its bytes; at 1 MiB a KiB costs Redis up to 2.5 times what it costs at 10 KiB",
  claims: [
    { of: "redisUsPerKiB", atMost: 2.5, from: 10_240 },
    { of: "workerUsPerKiB", atMost: 1.5, from: 10_240 },
  ],
  sizes: () => [350, 1024, 10_240, 102_400, 1_048_000],
  async measure(rig, size, knobs): Promise<Point> {
    const bySize = (mostBytes * (knobs.isFull ? 1 : 0.3)) / size;
    const jobs = Math.round(Math.min(jobsOf(50_000, knobs, 0.3), bySize));
    const ballast = Math.max(0, size - envelopeBytes);
    const node = { workers: 1, slots: 10 };
    const point = await working(rig, {
      ...{ size, node, warmUp: Math.min(jobs, 5000), jobs, batch: { ballast } },
    });
    const { redisUs = Number.NaN, workerUs = Number.NaN } = point.values;
    const kibibytes = size / 1024;
    const values = { redisUsPerKiB: redisUs / kibibytes, workerUsPerKiB: workerUs / kibibytes };
    return { ...point, values: { ...point.values, ...values } };
  },
};
