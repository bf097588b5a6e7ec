/** Publishes for `embedded-wake.ts` from a process of its own. */
import { close } from "../../src/index.ts";
import { publish } from "../embedded-wake.ts";

await publish(Number(process.argv[2]));
await close();
