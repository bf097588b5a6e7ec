/** Publishes for `wake-main.ts` from a process of its own: `bun publish-stamps.ts <jobs> <file>`. */
import { close } from "../../src/index.ts";
import { publish } from "./wake-main.ts";

const [jobs, file = ""] = Bun.argv.slice(2);
await publish(Number(jobs), file);
await close();
