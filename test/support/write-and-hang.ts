/** A process that stays inside a transaction for ever, once it has said so. */
import { SqliteFile } from "../../src/store/sqlite/file.ts";

const file = new SqliteFile({ path: process.env["FILE"] as string, synchronous: "normal" });
await file.write((database) => {
  database.run("UPDATE counters SET value = 1000");
  database.run("INSERT INTO channels (name) VALUES ('never')");
  console.log(JSON.stringify({ message: "inside" }));
  while (true);
});
