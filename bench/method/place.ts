import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { System } from "../systems/system.ts";
import type { RedisPlace } from "./redis-place.ts";

/** Where one run takes place: an empty store, and an empty folder that goes with it. */
export interface Place {
  readonly url: string;
  /** The workers' own. */
  readonly folder: string;
}

/** Whatever happens in `body`, the folder goes. */
export async function inFreshPlace<T>(
  system: System,
  redis: RedisPlace,
  body: (place: Place) => Promise<T>,
): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), "solid-jobs-bench-"));
  try {
    const folder = join(root, "workers");
    mkdirSync(folder);
    if (system.engine === "redis") await redis.empty();
    return await body({ url: urlFor(system, redis, root), folder });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function urlFor(system: System, redis: RedisPlace, root: string): string {
  switch (system.engine) {
    case "redis":
      return redis.url;
    case "sqlite":
      return `sqlite:${join(root, "jobs.sqlite")}`;
    case "none":
      return `file:${join(root, "jobs")}`;
  }
}
