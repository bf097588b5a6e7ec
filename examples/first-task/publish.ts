import { Greet } from "./jobs.ts";

const id = await Greet.enqueue("world");
console.log(`published ${id}`);
