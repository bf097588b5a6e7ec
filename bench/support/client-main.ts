/** A client's process: `bun client-main.ts <system> <url> <task as JSON>`. The answer is its last line. */
import type { OpenClient } from "../systems/system.ts";
import { type ClientTask, perform } from "./client-tasks.ts";

const [system = "", url = "", task = "{}"] = Bun.argv.slice(2);
// Only the system that is asked for is loaded.
const { openClient } = (await import(`../systems/${system}/client.ts`)) as { openClient: OpenClient };
const client = openClient(url);
const result = await perform(client, JSON.parse(task) as ClientTask);
await client.close();
console.log(JSON.stringify(result));
