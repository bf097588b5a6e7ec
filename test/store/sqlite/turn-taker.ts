/** A thread that writes to the file in turn with others, until it is told to end or is ended. */

import { SqliteFile } from "../../../src/store/sqlite/file.ts";
import { joinTurns, type TurnsPass } from "../../../src/store/sqlite/turns.ts";

declare const self: Worker;

export interface TurnTakerInit {
  readonly path: string;
  readonly pass: TurnsPass;
  /** Its place in `counts`. */
  readonly index: number;
  /** Transactions of each thread; the last cell is 1 when all are to end. */
  readonly counts: SharedArrayBuffer;
  /** Stays in its first transaction for ever, once it has counted it. */
  readonly isHanging: boolean;
}

self.onmessage = async ({ data }: MessageEvent) => {
  const { path, pass, index, counts, isHanging } = data as TurnTakerInit;
  joinTurns(pass);
  const cells = new Int32Array(counts);
  const file = new SqliteFile({ path, synchronous: "normal" });
  while (Atomics.load(cells, cells.length - 1) === 0) {
    await file.write((database) => {
      database.run("UPDATE counters SET value = value + 1 WHERE name = 'processed'");
      Atomics.add(cells, index, 1);
      Atomics.notify(cells, index);
      while (isHanging);
    });
  }
  file.close();
  self.postMessage("ended");
};

self.postMessage("ready");
