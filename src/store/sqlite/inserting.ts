import type { SQLQueryBindings } from "bun:sqlite";
import type { Publication } from "../store.ts";
import type { Engine } from "./engine.ts";
import { headOf } from "./head.ts";
import { jobState, middlePlace } from "./schema.ts";
import { rowsPerInsert, type Statements } from "./statements.ts";

const valuesPerRow = 3;

/** What a channel's rows are inserted with. */
interface Channel {
  readonly id: number;
  /** Where the next one goes. */
  place: number;
}

/** Rows of one publication: those that are ready, alike but for id, time and payload, in groups. */
export class Inserting {
  private readonly engine: Engine;
  private readonly statements: Statements;
  private readonly now: number;
  private readonly channels = new Map<string, Channel>();
  private channel: Channel | undefined;
  private shape: number | null = null;
  private barrier: string | null = null;
  private values: SQLQueryBindings[] = [];

  constructor(engine: Engine, statements: Statements, now: number) {
    this.engine = engine;
    this.statements = statements;
    this.now = now;
  }

  add(publication: Publication, barrier: string): void {
    const { id, channel: name, due } = publication;
    const own = barrier !== "" && headOf(publication.payload).barrier === barrier ? barrier : null;
    if (due !== undefined) {
      const at = "afterSeconds" in due ? this.now + due.afterSeconds : due.atSeconds;
      const channel = this.engine.channelId(this.statements, name);
      this.statements.insertJob.run(channel, jobState.planned, at, id, own, publication.payload);
      return;
    }
    const channel = this.channels.get(name) ?? this.begin(name);
    const { shape, ms, payload } = this.engine.shapes.storedAs(this.statements, publication);
    if (channel !== this.channel || shape !== this.shape || own !== this.barrier) this.flush();
    this.channel = channel;
    this.shape = shape;
    this.barrier = own;
    this.values.push(id, ms, payload);
    if (this.values.length === rowsPerInsert * valuesPerRow) this.insertRows(channel);
  }

  flush(): void {
    const { channel, values, shape, barrier } = this;
    if (channel === undefined) return;
    for (let at = 0; at < values.length; at += valuesPerRow) {
      const [id, ms, payload] = values.slice(at, at + valuesPerRow) as [
        string,
        number | null,
        string | number,
      ];
      this.statements.insertReady.run(channel.id, channel.place, shape, barrier, id, ms, payload);
      channel.place += 1;
    }
    this.values = [];
  }

  private insertRows(channel: Channel): void {
    const bindings: SQLQueryBindings[] = [channel.id, channel.place, this.shape, this.barrier];
    this.statements.insertReadyRows.run(...bindings, ...this.values);
    channel.place += rowsPerInsert;
    this.values = [];
  }

  private begin(name: string): Channel {
    const id = this.engine.channelId(this.statements, name);
    const last = this.statements.lastPlace.get(id);
    const channel = { id, place: last === null ? middlePlace : last.place + 1 };
    this.channels.set(name, channel);
    return channel;
  }
}
