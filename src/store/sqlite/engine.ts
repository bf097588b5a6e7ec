import type { Database } from "bun:sqlite";
import type { SqliteFile } from "./file.ts";
import { prepare, type Statements } from "./statements.ts";

/** One thread's file with its prepared statements and the channels' numbers. */
export class Engine {
  readonly file: SqliteFile;
  private prepared: { database: Database; statements: Statements } | undefined;
  private readonly channelIds = new Map<string, number>();
  private readonly channelNames = new Map<number, string>();

  constructor(file: SqliteFile) {
    this.file = file;
  }

  write<T>(work: (statements: Statements, nowSeconds: number) => T): Promise<T> {
    return this.file.write((database) => work(this.statements(database), Date.now() / 1000));
  }

  read<T>(work: (statements: Statements, nowSeconds: number) => T): Promise<T> {
    return this.file.read((database) => work(this.statements(database), Date.now() / 1000));
  }

  /** A channel's number, which it keeps for good; made at its first use, inside a transaction. */
  channelId(statements: Statements, name: string): number {
    const known = this.knownChannelId(statements, name);
    if (known !== undefined) return known;
    return statements.addChannel.get(name)?.id ?? 0; // not kept here: this transaction may be rolled back
  }

  knownChannelId(statements: Statements, name: string): number | undefined {
    const known = this.channelIds.get(name) ?? statements.channelId.get(name)?.id;
    if (known !== undefined) this.channelIds.set(name, known);
    return known;
  }

  channelName(statements: Statements, id: number): string {
    const known = this.channelNames.get(id) ?? statements.channelName.get(id)?.name;
    if (known !== undefined) this.channelNames.set(id, known);
    return known ?? "default";
  }

  private statements(database: Database): Statements {
    if (this.prepared?.database !== database) this.prepared = { database, statements: prepare(database) };
    return this.prepared.statements;
  }
}
