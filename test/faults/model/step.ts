import type fc from "fast-check";
import { conserved } from "./conserved.ts";
import type { Model } from "./model.ts";
import type { Real } from "./real.ts";

/** What is made of a step's arguments. */
export interface StepBody {
  /** As it is printed, such as `publish(2 of default)`. */
  readonly name: string;
  /** Default: it always can be taken. */
  readonly canBeTaken?: (model: Model) => boolean;
  /** Takes it in the store, checks what the store answers, and takes it in the model. */
  readonly take: (model: Model, real: Real) => Promise<void>;
}

/** A step after which everything is compared. */
export class Step implements fc.AsyncCommand<Model, Real> {
  private readonly body: StepBody;

  constructor(body: StepBody) {
    this.body = body;
  }

  check(model: Readonly<Model>): boolean {
    return this.body.canBeTaken?.(model) ?? true;
  }

  async run(model: Model, real: Real): Promise<void> {
    await this.body.take(model, real);
    model.count(this.kind);
    await conserved(model, real);
  }

  /** Its name without its arguments. */
  private get kind(): string {
    return this.body.name.slice(0, this.body.name.indexOf("("));
  }

  toString(): string {
    return this.body.name;
  }
}
