import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { encodeEnvelope, reviseBytes } from "../../src/envelope/codec.ts";
import type { Executor, Reservation, Store } from "../../src/store/store.ts";
import { aWorker, cycle, nodeRecord, type StoreHarness } from "./conformance/harness.ts";

const bytesOf = (text: string) => Buffer.from(text, "latin1");

/** The JSON text of arguments, as bytes, that some step could mangle. */
const cases: Readonly<Record<string, Buffer>> = {
  "empty arrays and objects": Buffer.from('[[],{},[[]],{"a":[],"b":{}}]'),
  "numbers as they were written": Buffer.from("[12345678901234567890,1.0,1e2,-0,0.1000,9007199254740993]"),
  "emoji, other scripts and escapes": Buffer.from('["💥 ünï 漢字 \u2028","\\ud83d\\udca5","\\u0000","\\/"]'),
  "a lone surrogate's escape": Buffer.from('["\\ud800"]'),
  "__proto__ and other names that objects inherit": Buffer.from('[{"__proto__":{"x":1},"constructor":1}]'),
  "fields of the envelope's own names": Buffer.from(
    '[{"id":"inner","channel":"inner","queued_ms":1,"failure_count":7,"_solid_jobs_publication":"b"}]',
  ),
  "repeated names and spaces": Buffer.from('[ {"a" : 1,\n"a":2 } ,\t3 ]'),
  "bytes that are not UTF-8": bytesOf('["\xff\xfe\x80\xc3(\xed\xa0\x80"]'),
  "NUL and other control bytes": bytesOf('["\0a\x01\x1f\x7f"]'),
  "500 KB of text": Buffer.from(JSON.stringify(["é💥x".repeat(70_000)])),
  "500 KB of bytes that are not UTF-8": Buffer.concat([
    bytesOf('["'),
    Buffer.alloc(500_000, 0xff),
    bytesOf('"]'),
  ]),
  "text that looks like Redis' protocol": Buffer.from('["$5\\r\\n*1\\r\\n:1\\r\\n","-ERR x"]'),
};

/** Our own envelope, or one in the order and style of another member, around these arguments. */
function envelopes(args: Buffer): { style: string; payload: Buffer }[] {
  const mark = '["MARK"]';
  const ours = encodeEnvelope({
    id: "job-1",
    task: "T",
    channel: "default",
    argumentsJson: mark,
    maxFailures: 25,
    nowMs: 1_700_000_000_000,
  });
  const foreign = `{"id": "job-1", "task": "T", "arguments": ${mark}, "channel": "default", "x_note": "\\u00e9"}`;
  return [
    { style: "ours", payload: around(ours) },
    { style: "another member's", payload: around(foreign) },
  ];
  function around(text: string): Buffer {
    const [before = "", after = ""] = text.split(mark);
    return Buffer.concat([Buffer.from(before), args, Buffer.from(after)]);
  }
}

async function reserveOne(store: Store, worker: Executor): Promise<Reservation> {
  const { reserved } = await cycle(store, worker, { slots: 1 });
  expect(reserved).toHaveLength(1);
  return reserved[0]!;
}

/** What the tests see behind a store's back. */
export interface FaithfulHarness extends StoreHarness {
  /** The exact bytes of the one payload that the channel `default`, or a set, holds. */
  onlyBytes(place: "channel" | "retries" | "discarded"): Promise<Buffer>;
}

/** Every engine keeps what it is given, whatever it is, through every transition. */
export function storeFaithfulness({ name, open }: { name: string; open(): Promise<FaithfulHarness> }): void {
  describe(`a payload is kept byte for byte on ${name}`, () => {
    let harness: FaithfulHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    for (const [what, args] of Object.entries(cases)) {
      for (const { style, payload } of envelopes(args)) {
        // Raw control bytes are not JSON: another member's envelope with them is archived as garbage.
        if (what.startsWith("NUL") && style !== "ours") continue;
        test(`${what} (${style})`, async () => {
          const { store, push, channel, onlyBytes } = harness;
          const isText = payload.equals(Buffer.from(payload.toString("utf8")));
          const worker = await aWorker(store);
          const jobId = "job-1";

          if (isText)
            await store.publish([{ id: jobId, channel: "default", payload: payload.toString("utf8") }]);
          else await push("default", payload);
          expect((await onlyBytes("channel")).equals(payload)).toBe(true);

          let reservation = await reserveOne(store, worker);
          expect(reservation.raw).toBe(payload.toString("utf8"));
          expect((await store.claimedBytes(worker, reservation))!).toEqual(new Uint8Array(payload));

          const requeue = { slot: 0, token: reservation.token, jobId, outcome: "requeue" as const };
          await cycle(store, worker, { settlements: [requeue] });
          expect((await onlyBytes("channel")).equals(payload)).toBe(true);

          reservation = await reserveOne(store, worker);
          const revised = reviseBytes((await store.claimedBytes(worker, reservation))!, {
            failure_count: 1,
            exception_message: "no → 💥",
          });
          expect(typeof revised === "string").toBe(isText);
          const retry = { slot: 0, token: reservation.token, jobId, outcome: "retry" as const };
          const reply = await cycle(store, worker, {
            settlements: [{ ...retry, delaySeconds: 0, payload: revised }],
          });
          expect(reply).toMatchObject({ refused: [], blocked: [] });
          const stored = await onlyBytes("retries");
          expect(stored.equals(Buffer.from(revised as Uint8Array))).toBe(true);
          expect(stored.includes(args)).toBe(true);
          expect(JSON.parse(stored.toString("latin1").replace(args.toString("latin1"), "[]"))).toMatchObject({
            id: jobId,
            failure_count: 1,
          });

          expect(await store.promoteDue()).toMatchObject({ retries: 1, problems: [] });
          const promoted = await onlyBytes("channel");
          expect(withoutQueuedMs(promoted).equals(withoutQueuedMs(stored))).toBe(true);

          await reserveOne(store, worker);
          await store.reconcile(worker, "g2", [], 1);
          expect((await onlyBytes("channel")).equals(promoted)).toBe(true);

          await reserveOne(store, { ...worker, generation: "g2" });
          await store.recover({ identity: worker.node, judge: worker.node, isProven: true });
          expect((await onlyBytes("channel")).equals(promoted)).toBe(true);

          const next = "next~bun:1:0123456789ab";
          await store.register(nodeRecord(next));
          const other = { node: next, executor: "w0", generation: "g1" };
          await store.grant(other);
          reservation = await reserveOne(store, other);
          const bytes = (await store.claimedBytes(other, reservation))!;
          const archive = {
            slot: 0,
            token: reservation.token,
            jobId,
            outcome: "archive" as const,
            payload: bytes,
          };
          await cycle(store, other, { settlements: [archive] });
          expect((await onlyBytes("discarded")).equals(promoted)).toBe(true);
          expect(await channel("default")).toEqual([]);
        });
      }
    }
  });
}

function withoutQueuedMs(payload: Buffer): Buffer {
  return bytesOf(
    payload.toString("latin1").replace(/^({"id":"job-1","channel":"default",.*?"queued_ms":)\d+/, "$10"),
  );
}
