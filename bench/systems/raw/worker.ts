/** The raw loop: `worker.ts <url> <jobs a transaction>`. */
import { openJob } from "../job.ts";
import { openFile } from "./queue.ts";

interface Row {
  readonly seq: number;
  readonly payload: string;
}

const [url = "", slots = "1"] = process.argv.slice(2);
const job = openJob();
const database = openFile(url);
const remove = database.prepare<unknown, [number]>("DELETE FROM jobs WHERE seq = ?");
const take = database.prepare<Row, []>(
  `SELECT seq, payload FROM jobs WHERE channel = 1 AND state = 2 ORDER BY seq LIMIT ${Number(slots)}`,
);
const claim = database.prepare<unknown, [number]>("UPDATE jobs SET state = 6 WHERE seq = ?");
const turn = database.transaction((done: readonly Row[]) => {
  for (const { seq } of done) remove.run(seq);
  const taken = take.all();
  for (const { seq } of taken) claim.run(seq);
  return taken;
}).immediate;

process.once("SIGTERM", () => process.exit(0));
console.log("node started");
let running: Row[] = [];
do {
  running = turn(running);
  for (const { payload } of running) job((JSON.parse(payload) as { index: number }).index);
} while (running.length > 0);
// Until it is told to end.
setInterval(() => {}, 60_000);
