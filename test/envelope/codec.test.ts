import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  decodeEnvelope,
  encodeEnvelope,
  type Revision,
  reviseBytes,
  reviseEnvelope,
} from "../../src/envelope/codec.ts";
import { UndecodableEnvelope } from "../../src/foundation/errors.ts";

const failure: Revision = {
  failure_count: 3,
  exception_type: "Error",
  exception_message: 'no "luck" → 💥',
  first_failed_ms: 1_700_000_000_001,
  last_failed_ms: 1_700_000_000_002,
};

function ours(argumentsJson = "[]"): string {
  return encodeEnvelope({
    id: "job-1",
    task: "Mail",
    channel: "default",
    argumentsJson,
    maxFailures: 25,
    nowMs: 1_700_000_000_000,
  });
}

/** What a JSON object says when its own parser reads it, and then some fields are changed. */
function changed(raw: string, revision: Revision): Map<string, unknown> {
  const fields = new Map(Object.entries(JSON.parse(raw) as Record<string, unknown>));
  for (const [name, value] of Object.entries(revision)) {
    if (value === undefined) fields.delete(name);
    else fields.set(name, value);
  }
  return fields;
}

function asMap(raw: string): Map<string, unknown> {
  return new Map(Object.entries(JSON.parse(raw) as Record<string, unknown>));
}

const fieldName = fc.oneof(
  fc.constantFrom("id", "channel", "failure_count", "arguments", "__proto__", "constructor", "toString", "é"),
  fc.string({ unit: "grapheme", maxLength: 6 }),
);
const space = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
/** A JSON object as any program may write it: repeated fields, spaces everywhere, any values. */
const anyObject = fc
  .tuple(space, fc.array(fc.tuple(fieldName, fc.jsonValue(), space, space), { maxLength: 8 }))
  .map(([lead, fields]) => {
    const texts = fields.map(
      ([name, value, before, after]) =>
        `${before}${JSON.stringify(name)}${after}:${before}${JSON.stringify(value)}${after}`,
    );
    return `${lead}{${texts.join(",")}${lead}}${lead}`;
  });
const anyRevision = fc.dictionary(
  fieldName.filter((name) => name !== "__proto__"),
  fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0 || 0),
    fc.constant(undefined),
  ),
  { noNullPrototype: true },
);

describe("a new envelope", () => {
  test("decodes to what it was made of", () => {
    const raw = encodeEnvelope({
      id: "a",
      task: "Täsk",
      channel: "über alles",
      argumentsJson: '[1,{"x":[]}]',
      maxFailures: 3,
      nowMs: 5,
      retryWithin: 60,
      retryChannel: "slow",
      barrier: "b1",
    });
    expect(decodeEnvelope(raw)).toEqual({
      id: "a",
      task: "Täsk",
      channel: "über alles",
      arguments: [1, { x: [] }],
      maxFailures: 3,
      createdMs: 5,
      queuedMs: 5,
      retryWithin: 60,
      retryChannel: "slow",
      failureCount: 0,
    });
    expect(JSON.parse(raw)._solid_jobs_publication).toBe("b1");
  });

  test("says that it has no barrier, so that the Ruby member keeps its text", () => {
    expect(JSON.parse(ours())._solid_jobs_publication).toBe("-");
  });

  test("has its arguments last", () => {
    expect(ours('["x"]').endsWith(',"arguments":["x"]}')).toBe(true);
  });
});

describe("decoding", () => {
  test("reads arguments {} as an empty array, as a re-encoding by the Ruby member leaves them", () => {
    const raw = '{"id":"a","task":"T","channel":"c","arguments":{}}';
    expect(decodeEnvelope(raw).arguments).toEqual([]);
  });

  test.each([
    ["not json", "not JSON"],
    ["[1]", "expected a JSON object, got an array"],
    ["null", "expected a JSON object, got null"],
    ['{"task":"T","channel":"c","arguments":[]}', '"id" must be a text, got nothing'],
    ['{"id":"","task":"T","channel":"c","arguments":[]}', '"id" must be a text'],
    ['{"id":7,"task":"T","channel":"c","arguments":[]}', '"id" must be a text, got number 7'],
    ['{"id":"a","channel":"c","arguments":[]}', '"task" must be a text'],
    ['{"id":"a","task":"T","arguments":[]}', '"channel" must be a text'],
    ['{"id":"a","task":"T","channel":"c"}', '"arguments" must be an array, got nothing'],
    [
      '{"id":"a","task":"T","channel":"c","arguments":{"x":1}}',
      '"arguments" must be an array, got an object',
    ],
    ['{"id":"a","task":"T","channel":"c","arguments":"[]"}', '"arguments" must be an array, got string'],
  ])("refuses %s and names the fault", (raw, reason) => {
    expect(() => decodeEnvelope(raw)).toThrow(UndecodableEnvelope);
    expect(() => decodeEnvelope(raw)).toThrow(reason);
  });
});

describe("revising", () => {
  test("then reading equals reading and then changing, for any object and any change", () => {
    fc.assert(
      fc.property(anyObject, anyRevision, (raw, revision) => {
        expect(asMap(reviseEnvelope(raw, revision))).toEqual(changed(raw, revision));
      }),
      { numRuns: 500 },
    );
  });

  test("a decoded envelope differs only in the changed fields", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (args) => {
        const raw = ours(JSON.stringify(args));
        expect(decodeEnvelope(reviseEnvelope(raw, failure))).toEqual({
          ...decodeEnvelope(raw),
          failureCount: 3,
          exceptionType: "Error",
          exceptionMessage: 'no "luck" → 💥',
          firstFailedMs: 1_700_000_000_001,
          lastFailedMs: 1_700_000_000_002,
        });
      }),
    );
  });

  test("leaves the text of arguments and unknown fields byte for byte", () => {
    const argumentsJson =
      '[ 12345678901234567890, 1.0, {"a":[],"a":{} , "__proto__":{"x":1}}, "\\u00e9\\/" ]';
    const raw = `{"id":"a","task":"T","x_trace": {"id":"inner", "n":1e2},"channel":"c","arguments":${argumentsJson}}`;
    const revised = reviseEnvelope(raw, { ...failure, channel: "slow" });
    expect(revised).toContain('"x_trace": {"id":"inner", "n":1e2}');
    expect(revised.endsWith(`"arguments":${argumentsJson}}`)).toBe(true);
    expect(decodeEnvelope(revised).channel).toBe("slow");
  });

  test("keeps fields whose names an object inherits", () => {
    const raw = '{"id":"a","constructor":1,"toString":2,"__proto__":3,"hasOwnProperty":4}';
    expect(reviseEnvelope(raw, { failure_count: 1 })).toBe(
      '{"id":"a","constructor":1,"toString":2,"__proto__":3,"hasOwnProperty":4,"failure_count":1}',
    );
  });

  test("leaves nested fields of the same names alone", () => {
    const raw = ours('[{"channel":"inner","failure_count":9,"id":"inner"}]');
    const revised = reviseEnvelope(raw, { channel: "slow", failure_count: 1 });
    expect(revised.endsWith('"arguments":[{"channel":"inner","failure_count":9,"id":"inner"}]}')).toBe(true);
    expect(decodeEnvelope(revised)).toMatchObject({ channel: "slow", failureCount: 1, id: "job-1" });
  });

  test("changes a repeated field to one", () => {
    expect(reviseEnvelope('{"channel":"a","x":1,"channel":"b"}', { channel: "c" })).toBe(
      '{"channel":"c","x":1}',
    );
    expect(reviseEnvelope('{"channel":"a","x":1,"channel":"b"}', { channel: undefined })).toBe('{"x":1}');
  });

  test("puts new fields before the arguments of our own envelopes, which the scripts read up to there", () => {
    const revised = reviseEnvelope(ours("[1]"), { failure_count: 2 });
    expect(revised.endsWith(',"failure_count":2,"arguments":[1]}')).toBe(true);
    expect(revised).toStartWith(
      '{"id":"job-1","channel":"default","_solid_jobs_publication":"-","queued_ms":',
    );
  });

  test("adds to an empty object and removes the only field", () => {
    expect(reviseEnvelope("{}", { a: 1 })).toBe('{"a":1}');
    expect(reviseEnvelope('{"a":1}', { a: undefined })).toBe("{}");
  });

  test.each([
    "",
    "nothing",
    "[1]",
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":[1}',
    '{"a" 1}',
    '{"\u0001\\x":1}',
    '{"a":1 "b":2}',
  ])("refuses %p, which is no JSON object", (raw) => {
    expect(() => reviseEnvelope(raw, { x: 1 })).toThrow(UndecodableEnvelope);
    expect(() => reviseBytes(Buffer.from(raw), { x: 1 })).toThrow(UndecodableEnvelope);
  });
});

describe("revising bytes", () => {
  test("that are UTF-8 gives the same as revising the text", () => {
    fc.assert(
      fc.property(anyObject, anyRevision, (raw, revision) => {
        const text = Buffer.from(raw).toString(); // lone surrogates cannot be bytes
        expect(reviseBytes(Buffer.from(raw), revision)).toBe(reviseEnvelope(text, revision));
      }),
    );
  });

  test("that are not keeps every byte that is not changed, for any bytes", () => {
    const anyBytes = fc
      .uint8Array({ maxLength: 40 })
      .map((bytes) => bytes.filter((b) => b !== 34 && b !== 92));
    fc.assert(
      fc.property(anyBytes, anyBytes, (argument, unknown) => {
        const raw = Buffer.concat([
          Buffer.from('{"id":"a","x":"'),
          unknown,
          Buffer.from('","channel":"c","arguments":["\xff', "latin1"),
          argument,
          Buffer.from('"]}'),
        ]);
        const revised = reviseBytes(raw, failure);
        expect(revised).toBeInstanceOf(Uint8Array);
        const added =
          ',"failure_count":3,"exception_type":"Error","exception_message":"no \\"luck\\" \\u2192 \\ud83d\\udca5"' +
          ',"first_failed_ms":1700000000001,"last_failed_ms":1700000000002,"arguments":["';
        const expected = Buffer.concat([
          Buffer.from('{"id":"a","x":"'),
          unknown,
          Buffer.from(`","channel":"c"${added}`),
          Buffer.from([0xff]),
          argument,
          Buffer.from('"]}'),
        ]);
        expect(Buffer.from(revised as Uint8Array).equals(expected)).toBe(true);
      }),
    );
  });

  test("reads a view into a larger buffer as that part only", () => {
    const whole = Buffer.from('#{"a":"\xff"}#', "latin1");
    expect(reviseBytes(whole.subarray(1, -1), { b: 1 })).toEqual(Buffer.from('{"a":"\xff","b":1}', "latin1"));
  });
});
