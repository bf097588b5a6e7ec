import type { EnvelopeShape } from "../../envelope/parts.ts";
import type { Publication } from "../store.ts";
import { isLarge, stored } from "./bodies.ts";
import type { ShapedRow, ShapeRow, Statements } from "./statements.ts";

/** A file holds no more; envelopes of others are stored whole. */
const mostShapes = 4096;

/**
 * Keeps the text of envelopes apart in what many have in common and what is each one's own, so that a job
 * takes a fifth of the bytes. Put together again it is the same text to the byte.
 */
export class Shapes {
  private readonly rows = new Map<number, ShapeRow>();
  private numbers = new WeakMap<EnvelopeShape, number>();

  /** The file is another one, or a transaction that may have added some was rolled back. */
  forget(): void {
    this.rows.clear();
    this.numbers = new WeakMap();
  }

  /** What a publication's envelope is stored as in `ready`, with its body where it is large. */
  storedAs(statements: Statements, publication: Publication): Omit<ShapedRow, "id"> {
    const { id, parts } = publication;
    const isShaped = parts !== undefined && !parts.shape.isBarred && parts.idText === id;
    if (!isShaped || isLarge(parts.argumentsJson)) return wholeOf(statements, publication);
    const shape = this.numberOf(statements, parts.shape);
    if (shape === undefined) return wholeOf(statements, publication);
    return { shape, ms: parts.nowMs, payload: parts.argumentsJson };
  }

  /** The text of a job, or its bytes when they are not UTF-8. */
  putTogether(statements: Statements, { shape, ms, id, payload }: ShapedRow): string | Uint8Array {
    if (typeof payload === "number") return statements.body.get(payload)?.payload ?? "";
    if (shape === null) return payload;
    const { after_id, after_queued, after_created } = this.rows.get(shape) ?? this.read(statements, shape);
    return `{"id":"${id}${after_id}${ms}${after_queued}${ms}${after_created}${payload}}`;
  }

  private numberOf(statements: Statements, shape: EnvelopeShape): number | undefined {
    const known = this.numbers.get(shape);
    if (known !== undefined) return known;
    const { afterId, afterQueued, afterCreated } = shape;
    const number =
      statements.shapeId.get(afterId, afterQueued, afterCreated)?.id ??
      statements.addShape.get(afterId, afterQueued, afterCreated, mostShapes)?.id;
    if (number !== undefined) this.numbers.set(shape, number);
    return number;
  }

  private read(statements: Statements, number: number): ShapeRow {
    const row = statements.shape.get(number);
    if (row === null) throw new Error(`the file has no shape ${number}, which one of its jobs is of`);
    this.rows.set(number, row);
    return row;
  }
}

function wholeOf(statements: Statements, { payload }: Publication): Omit<ShapedRow, "id"> {
  return { ...stored(statements.addBody, payload), ms: null };
}
