import { jobState } from "../../../src/store/sqlite/schema.ts";
import { storeFaithfulness } from "../faithful.ts";
import { sqliteHarness } from "./harness.ts";

const states = { channel: jobState.ready, retries: jobState.retrying, discarded: jobState.discarded };

storeFaithfulness({
  name: "SQLite",
  async open() {
    const harness = await sqliteHarness();
    const onlyBytes = async (place: keyof typeof states) => {
      const rows = harness.database
        .query<{ bytes: Uint8Array }, [number]>(
          "SELECT CAST(payload AS BLOB) AS bytes FROM jobs WHERE state = ?",
        )
        .all(states[place]);
      if (rows.length !== 1) throw new Error(`expected one payload in ${place}, found ${rows.length}`);
      return Buffer.from(rows[0]!.bytes);
    };
    return { ...harness, onlyBytes };
  },
});
