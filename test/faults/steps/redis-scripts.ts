import { RedisClient } from "bun";
import { catalogScripts } from "../../../src/store/redis/catalog-scripts.ts";
import { scripts } from "../../../src/store/redis/scripts.ts";
import { transferScripts } from "../../../src/store/redis/transfer-scripts.ts";

/** Makes all scripts known to a server, so that a step takes as many commands each time it is taken. */
export async function loadScripts(url: string): Promise<void> {
  const client = new RedisClient(url);
  for (const table of [scripts, catalogScripts, transferScripts]) {
    for (const { modern } of Object.values(table)) await client.send("SCRIPT", ["LOAD", modern.text]);
  }
  client.close();
}
