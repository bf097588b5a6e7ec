import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { System } from "../systems/system.ts";
import type { RedisPlace } from "./redis-place.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

/** Where one run takes place: an empty store, and an empty folder that goes with it. */
export interface Place {
  readonly url: string;
  /** The workers' own. */
  readonly folder: string;
}

/** Whatever happens in `body`, the folder goes. */
export function inFreshPlace<T>(
  system: System,
  redis: RedisPlace,
  body: (place: Place) => Promise<T>,
): Promise<T> {
  return inTemporaryFolder(async (root) => {
    const folder = join(root, "workers");
    mkdirSync(folder);
    if (system.engine === "redis") await redis.empty();
    return body({ url: urlFor(system, redis, root), folder });
  });
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
