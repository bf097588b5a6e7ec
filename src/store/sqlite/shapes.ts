import type { ShapedRow, ShapeRow, Statements } from "./statements.ts";

/** What the envelopes of one task in one channel have in common: the text between what differs. */
interface Shape {
  readonly id: number;
  readonly afterId: string;
  readonly afterQueued: string;
  readonly afterCreated: string;
}

/** An envelope without its shape. */
export interface Shaped {
  readonly shape: number;
  /** When it was published: it was made and queued at that time. */
  readonly ms: number;
  /** The text of its arguments. */
  readonly payload: string;
}

/** A file holds no more; envelopes beyond them are stored whole, as all are that do not begin so. */
const mostShapes = 4096;
/** Digits of a time in milliseconds, from 2001 to 2286. */
const msDigits = 13;
const idAt = '{"id":"'.length;

const unbarred =
  /^\{"id":"[^"\\]+(","channel":"(?:[^"\\]|\\.)+","_solid_jobs_publication":"-","queued_ms":)\d{13}(,"task":"(?:[^"\\]|\\.)+","max_failures":\d+,"created_ms":)\d{13}(,(?:"retry_within":[\d.e+-]+,)?(?:"retry_channel":"(?:[^"\\]|\\.)+",)?"arguments":)\[/;

/**
 * Keeps the text of envelopes apart in what many have in common and what is each one's own, so that a job
 * takes a fifth of the bytes. Put together again it is the same text to the byte; where it would not be, it is
 * not taken apart.
 */
export class Shapes {
  private readonly byId = new Map<number, Shape>();
  private readonly byText = new Map<string, Shape>();
  private recent: Shape | undefined;
  private recentMs = { text: "", value: 0 };

  /** The file is another one, or a transaction that may have added some was rolled back. */
  forget(): void {
    this.byId.clear();
    this.byText.clear();
    this.recent = undefined;
  }

  /** @returns undefined: to be stored whole */
  takeApart(statements: Statements, id: string, payload: string): Shaped | undefined {
    if (!payload.startsWith(id, idAt)) return undefined;
    if (this.recent !== undefined) {
      const shaped = this.shaped(this.recent, id, payload);
      if (shaped !== undefined) return shaped;
    }
    const shape = this.shapeOf(statements, payload);
    if (shape === undefined) return undefined;
    this.recent = shape;
    return this.shaped(shape, id, payload);
  }

  /** The text of a job, or its bytes when they are not UTF-8. */
  putTogether(statements: Statements, { shape: number, ms, id, payload }: ShapedRow): string | Uint8Array {
    if (typeof payload === "number") return statements.body.get(payload)?.payload ?? "";
    if (number === null) return payload;
    const shape = this.byId.get(number) ?? this.read(statements, number);
    return `{"id":"${id}${shape.afterId}${ms}${shape.afterQueued}${ms}${shape.afterCreated}${payload}}`;
  }

  private shaped(shape: Shape, id: string, payload: string): Shaped | undefined {
    const { afterId, afterQueued, afterCreated } = shape;
    const queuedAt = idAt + id.length + afterId.length;
    const createdAt = queuedAt + msDigits + afterQueued.length;
    const argumentsAt = createdAt + msDigits + afterCreated.length;
    const msText = payload.slice(queuedAt, queuedAt + msDigits);
    const isOfShape =
      payload.startsWith('{"id":"') &&
      payload.startsWith(afterId, idAt + id.length) &&
      payload.startsWith(afterQueued, queuedAt + msDigits) &&
      payload.startsWith(msText, createdAt) &&
      payload.startsWith(afterCreated, createdAt + msDigits) &&
      payload.endsWith("]}");
    const ms = isOfShape ? this.msFrom(msText) : undefined;
    if (ms === undefined) return undefined;
    return { shape: shape.id, ms, payload: payload.slice(argumentsAt, -1) };
  }

  /** A number that is written as this text. */
  private msFrom(text: string): number | undefined {
    if (text === this.recentMs.text) return this.recentMs.value;
    if (!/^[1-9]\d{12}$/.test(text)) return undefined;
    this.recentMs = { text, value: Number(text) };
    return this.recentMs.value;
  }

  private shapeOf(statements: Statements, payload: string): Shape | undefined {
    const [, afterId, afterQueued, afterCreated] = unbarred.exec(payload) ?? [];
    if (afterId === undefined || afterQueued === undefined || afterCreated === undefined) return undefined;
    const text = `${afterId}\n${afterQueued}\n${afterCreated}`;
    const known = this.byText.get(text);
    if (known !== undefined) return known;
    const id =
      statements.shapeId.get(afterId, afterQueued, afterCreated)?.id ??
      statements.addShape.get(afterId, afterQueued, afterCreated, mostShapes)?.id;
    return id === undefined ? undefined : this.keep({ id, afterId, afterQueued, afterCreated }, text);
  }

  private read(statements: Statements, id: number): Shape {
    const row = statements.shape.get(id);
    if (row === null) throw new Error(`the file has no shape ${id}, which one of its jobs is of`);
    const shape = shapeFrom(row);
    return this.keep(shape, `${shape.afterId}\n${shape.afterQueued}\n${shape.afterCreated}`);
  }

  private keep(shape: Shape, text: string): Shape {
    this.byId.set(shape.id, shape);
    this.byText.set(text, shape);
    return shape;
  }
}

function shapeFrom(row: ShapeRow): Shape {
  return {
    id: row.id,
    afterId: row.after_id,
    afterQueued: row.after_queued,
    afterCreated: row.after_created,
  };
}
