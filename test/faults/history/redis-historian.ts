import { readFileSync } from "node:fs";
import { commandsIn } from "./aof-file.ts";
import { AofSizes } from "./aof-sizes.ts";
import type { Historian, History } from "./history.ts";
import { RedisReplay } from "./redis-replay.ts";

/**
 * The history of a Redis, from its append-only file, which has the effects of every script in their order. The
 * file is never rewritten in a run, so it goes back to the beginning.
 */
export class RedisHistorian implements Historian {
  private readonly sizes: AofSizes;
  private readonly prefix: string;

  /** @param folder the server's own */
  constructor(folder: string, prefix: string) {
    this.sizes = new AofSizes(folder);
    this.prefix = prefix;
  }

  async read(): Promise<History> {
    const replay = new RedisReplay(this.prefix);
    for (const path of this.sizes.files()) {
      for (const { command, end } of commandsIn(readFileSync(path)))
        replay.apply(command, this.sizes.longBy(path, end));
    }
    return replay;
  }

  close(): void {
    this.sizes.stop();
  }
}
