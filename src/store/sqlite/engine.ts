import type { Database } from "bun:sqlite";
import type { SqliteFile, WriteOptions } from "./file.ts";
import { prepare, type Statements } from "./statements.ts";

/** One thread's file with its prepared statements and the channels' numbers. */
export class Engine {
  readonly file: SqliteFile;
  private prepared: { database: Database; statements: Statements } | undefined;
  private readonly channelIds = new Map<string, number>();
  /** Made by the transaction under way, which may still be rolled back. */
  private readonly newChannels = new Set<string>();
  private hasNews = false;

  constructor(file: SqliteFile) {
    this.file = file;
  }

  write<T>(work: (statements: Statements, nowSeconds: number) => T, options: WriteOptions = {}): Promise<T> {
    return this.file.write(
      (database) => {
        this.newChannels.clear();
        this.hasNews = false;
        return work(this.statements(database), Date.now() / 1000);
      },
      { ...options, hasNews: () => this.hasNews },
    );
  }

  read<T>(work: (statements: Statements, nowSeconds: number) => T): Promise<T> {
    return this.file.read((database) => work(this.statements(database), Date.now() / 1000));
  }

  /** The transaction under way makes something ready: who waits is told once it is committed. */
  announce(): void {
    this.hasNews = true;
  }

  /** A channel's number, which it keeps for good; made at its first use, inside a transaction. */
  channelId(statements: Statements, name: string): number {
    const known = this.knownChannelId(statements, name);
    if (known !== undefined) return known;
    this.newChannels.add(name);
    return statements.addChannel.get(name)?.id ?? 0;
  }

  knownChannelId(statements: Statements, name: string): number | undefined {
    const known = this.channelIds.get(name);
    if (known !== undefined) return known;
    const found = statements.channelId.get(name)?.id;
    if (found !== undefined && !this.newChannels.has(name)) this.channelIds.set(name, found);
    return found;
  }

  private statements(database: Database): Statements {
    if (this.prepared?.database !== database) {
      this.prepared = { database, statements: prepare(database) };
      this.channelIds.clear(); // another file has numbers of its own
    }
    return this.prepared.statements;
  }
}
