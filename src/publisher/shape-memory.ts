import { type EnvelopeShape, envelopeShape, type ShapeFields } from "../envelope/parts.ts";

const mostKept = 100;

interface Kept {
  readonly fields: ShapeFields;
  readonly shape: EnvelopeShape;
}

/** The shapes of what a program publishes: few, each of many envelopes, and the same object for each of them. */
export class ShapeMemory {
  private recent: Kept | undefined;
  private readonly kept = new Map<string, Kept>();

  of(fields: ShapeFields): EnvelopeShape {
    if (this.recent === undefined || !isAlike(this.recent.fields, fields)) this.recent = this.found(fields);
    return this.recent.shape;
  }

  private found(fields: ShapeFields): Kept {
    if (fields.barrier !== undefined) return { fields, shape: envelopeShape(fields) };
    const { task, channel, maxFailures, retryWithin, retryChannel } = fields;
    const name = JSON.stringify([task, channel, maxFailures, retryWithin, retryChannel]);
    const known = this.kept.get(name);
    if (known !== undefined) return known;
    if (this.kept.size >= mostKept) this.kept.clear();
    const made = { fields, shape: envelopeShape(fields) };
    this.kept.set(name, made);
    return made;
  }
}

function isAlike(one: ShapeFields, other: ShapeFields): boolean {
  return (
    one.task === other.task &&
    one.channel === other.channel &&
    one.barrier === other.barrier &&
    one.maxFailures === other.maxFailures &&
    one.retryWithin === other.retryWithin &&
    one.retryChannel === other.retryChannel
  );
}
