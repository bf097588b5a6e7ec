import { storeConformance } from "../conformance.ts";
import { sqliteHarness } from "./harness.ts";

const onlyOurs =
  "only this library writes to the file, and it stores envelopes only; a worker archives what it cannot decode";
const oneRow = "a claim and its job are one row";

storeConformance({
  name: "SQLite",
  open: (limits) => sqliteHarness(limits),
  skips: {
    "by age: a node whose beat": "liveness by proof only: no beat is too old (protocol, section 6)",
    "by age: a node without": "a node is one row, which always has a beat; without the row it is gone",
    "archives what is no envelope": onlyOurs,
    "keeps the bytes of garbage": onlyOurs,
    "works through a channel of nothing but garbage": onlyOurs,
    "tells a foreign envelope's id and barrier": "id, channel and barrier are columns",
    "requeues a payload that has no claim record": oneRow,
    "a payload without a claim record is taken back": oneRow,
    "large payloads are taken back": "putting a claim back does not move a large payload",
  },
});
