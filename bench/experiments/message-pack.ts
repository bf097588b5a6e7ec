import { pack, unpack } from "msgpackr";
import { comparedFeeders } from "./compared-scripts.ts";
import type { Comparison, Experiment, Reading } from "./experiment.ts";
import { feederOf } from "./feeding.ts";
import { cycleText, patchedCycle } from "./patched.ts";
import { payloadOf } from "./stand.ts";

const headReading = `local id_end = sub(payload, 1, 7) == '{"id":"' and find(payload, '"', 8, true)
      local is_plain = id_end and sub(payload, id_end, id_end + length) == expected
      local id = is_plain and sub(payload, 8, id_end - 1)`;
const failureReading = `local head = #payload > 2048 and sub(payload, 1, find(payload, '"arguments":', id_end, true) or 2048) or payload
      local failures, from = 0, find(head, '"failure_count":', id_end, true)
      if from and from < (find(head, '"arguments":', id_end, true) or from + 1) then
        failures = tonumber(string.match(head, '^%d+', from + 16)) or 0
      end`;

/** The whole envelope is decoded in the script. */
function decodingBy(decoder: string): string {
  return patchedCycle(
    [
      headReading,
      `local envelope = ${decoder}(payload)
      local id_end, id = 1, envelope.id
      local is_plain = envelope.channel == name and envelope._solid_jobs_publication == '-'`,
    ],
    [failureReading, "local failures = envelope.failure_count or 0"],
  );
}

const packed = (ballast: number) => (index: number) => pack(JSON.parse(payloadOf(index, ballast)));

/** What decoding one envelope takes the worker. */
function decoding<T>(text: T, decode: (text: T) => unknown): () => Promise<Reading> {
  const times = 20_000;
  return async () => {
    const before = process.threadCpuUsage();
    for (let i = 0; i < times; i++) decode(text);
    const { user, system } = process.threadCpuUsage(before);
    return { workerUs: (user + system) / times };
  };
}

const orders = {
  items: Array.from({ length: 40 }, (_, i) => ({ sku: `sku-${i}`, price: 9.95 + i, count: i })),
};

function decoders(at: string, value: unknown): Comparison {
  const [text, bytes] = [JSON.stringify(value), pack(value)];
  return {
    at: `${at}: ${text.length} B as JSON, ${bytes.length} B packed`,
    quantities: ["workerUs"],
    ways: [
      { name: "JSON.parse", measure: decoding(text, JSON.parse) },
      { name: "msgpackr", measure: decoding(bytes, unpack) },
    ],
  };
}

export const messagePack: Experiment = {
  name: "message-pack",
  summary: "envelopes as JSON whose head the script reads as text, against cjson and MessagePack",
  async run(compare, say) {
    await comparedFeeders(
      {
        present: { feeder: feederOf(cycleText) },
        "JSON, cjson.decode": { feeder: feederOf(decodingBy("cjson.decode")) },
        "MessagePack, cmsgpack.unpack": {
          feeder: feederOf(decodingBy("cmsgpack.unpack")),
          payload: packed(0),
        },
      },
      { quantities: ["redisUs", "bytesIn"] },
    )(compare, say);
    await compare(decoders("a no-op job", JSON.parse(payloadOf(1234))));
    await compare(decoders("an order of 40 items", { ...JSON.parse(payloadOf(1234)), arguments: [orders] }));
  },
};
