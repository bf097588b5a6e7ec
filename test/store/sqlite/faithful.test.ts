import { jobState } from "../../../src/store/sqlite/schema.ts";
import { storeFaithfulness } from "../faithful.ts";
import { sqliteHarness } from "./harness.ts";

const places = {
  channel: "ready_jobs",
  retries: `jobs WHERE state = ${jobState.retrying}`,
  discarded: `jobs WHERE state = ${jobState.discarded}`,
};

storeFaithfulness({
  name: "SQLite",
  async open() {
    const harness = await sqliteHarness();
    const onlyBytes = async (place: keyof typeof places) => {
      const rows = harness.database
        .query<{ bytes: Uint8Array }, []>(`SELECT CAST(payload AS BLOB) AS bytes FROM ${places[place]}`)
        .all();
      if (rows.length !== 1) throw new Error(`expected one payload in ${place}, found ${rows.length}`);
      return Buffer.from(rows[0]!.bytes);
    };
    return { ...harness, onlyBytes };
  },
});
