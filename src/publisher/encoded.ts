import { type EnvelopeParts, envelopeText } from "../envelope/parts.ts";
import type { Due, Publication } from "../store/store.ts";

/** A checked publication. Its text is only made for a store that wants it. */
export class EncodedPublication implements Publication {
  readonly id: string;
  readonly channel: string;
  readonly parts: EnvelopeParts;
  /** Of its payload. */
  readonly bytes: number;
  readonly due?: Due;

  constructor(given: {
    id: string;
    channel: string;
    parts: EnvelopeParts;
    bytes: number;
    due: Due | undefined;
  }) {
    this.id = given.id;
    this.channel = given.channel;
    this.parts = given.parts;
    this.bytes = given.bytes;
    if (given.due !== undefined) this.due = given.due;
  }

  get payload(): string {
    return envelopeText(this.parts);
  }
}
