import { expect, test } from "bun:test";
import fc from "fast-check";
import { encodeEnvelope } from "../../src/envelope/codec.ts";
import { envelopeBytes, envelopeShape, envelopeText, idTextOf } from "../../src/envelope/parts.ts";

const text = fc.string({ unit: "grapheme", maxLength: 12 });
const fields = fc.record(
  {
    id: text,
    task: text,
    channel: text,
    maxFailures: fc.nat(),
    nowMs: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
    retryWithin: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
    retryChannel: text,
    barrier: fc.stringMatching(/^[0-9a-f]{32}$/),
    argumentsJson: fc.array(fc.jsonValue()).map((values) => JSON.stringify(values)),
  },
  { requiredKeys: ["id", "task", "channel", "maxFailures", "nowMs", "argumentsJson"] },
);

test("an envelope's text is JSON with its fields in their order, and its size is known without the text", () => {
  fc.assert(
    fc.property(fields, (given) => {
      const { id, nowMs, argumentsJson } = given;
      const parts = { shape: envelopeShape(given), idText: idTextOf(id), nowMs, argumentsJson };
      const payload = envelopeText(parts);
      expect(payload).toBe(encodeEnvelope(given));
      expect(Buffer.byteLength(payload)).toBe(envelopeBytes(parts));
      const found = Object.entries(JSON.parse(payload) as Record<string, unknown>);
      expect<unknown>(found).toEqual(
        [
          ["id", id],
          ["channel", given.channel],
          ["_solid_jobs_publication", given.barrier ?? "-"],
          ["queued_ms", nowMs],
          ["task", given.task],
          ["max_failures", given.maxFailures],
          ["created_ms", nowMs],
          ["retry_within", given.retryWithin],
          ["retry_channel", given.retryChannel],
          ["arguments", JSON.parse(argumentsJson)],
        ].filter(([, value]) => value !== undefined),
      );
    }),
  );
});
