import type { Database } from "bun:sqlite";
import { StoreError } from "../../foundation/errors.ts";
import type { Executor } from "../store.ts";
import type { SqliteFile, WriteOptions } from "./file.ts";
import { maxChannels, slotBits } from "./schema.ts";
import { Shapes } from "./shapes.ts";
import { prepare, type Statements } from "./statements.ts";

const slotsPerExecutor = 2 ** slotBits;
/** Numbers kept in mind: an application may name a channel for each of its customers. */
const mostKept = 10_000;

/** One thread's file with its prepared statements, and the numbers that channels, executors and shapes have in it. */
export class Engine {
  readonly file: SqliteFile;
  readonly shapes = new Shapes();
  private prepared: { database: Database; statements: Statements } | undefined;
  private readonly channelIds = new Map<string, number>();
  private readonly executorIds = new Map<string, number>();
  /** What a transaction has added may have been rolled back. */
  private isInDoubt = false;
  private hasNews = false;

  constructor(file: SqliteFile) {
    this.file = file;
  }

  write<T>(
    work: (statements: Statements, nowSeconds: number) => T,
    options: Omit<WriteOptions, "onCommit"> = {},
  ): Promise<T> {
    return this.file.write(
      (database) => {
        if (this.isInDoubt) this.forget();
        this.isInDoubt = true;
        this.hasNews = false;
        return work(this.statements(database), Date.now() / 1000);
      },
      { ...options, onCommit: this.onCommit },
    );
  }

  read<T>(work: (statements: Statements, nowSeconds: number) => T): Promise<T> {
    return this.file.read((database) => {
      if (this.isInDoubt) this.forget();
      this.isInDoubt = false;
      return work(this.statements(database), Date.now() / 1000);
    });
  }

  /** The transaction under way makes something ready: who waits is told once it is committed. */
  announce(): void {
    this.hasNews = true;
  }

  /** A channel's number, which it keeps for good; made at its first use, inside a transaction. */
  channelId(statements: Statements, name: string): number {
    const known = this.knownChannelId(statements, name);
    if (known !== undefined) return known;
    const added = statements.addChannel.get(name)?.id ?? 0;
    if (added > maxChannels) {
      throw new StoreError(
        `${this.file.path}: expected at most ${maxChannels} different channel names, "${name}" is one more; ` +
          "use fewer, or Redis",
      );
    }
    return kept(this.channelIds, name, added);
  }

  knownChannelId(statements: Statements, name: string): number | undefined {
    const known = this.channelIds.get(name);
    if (known !== undefined) return known;
    const found = statements.channelId.get(name)?.id;
    return found === undefined ? undefined : kept(this.channelIds, name, found);
  }

  /**
   * The key of an executor's own row; that of its first slot follows. Undefined: it was never allowed to
   * reserve, or its node is gone.
   */
  executorKey(statements: Statements, { node, executor }: Omit<Executor, "generation">): number | undefined {
    const name = `${node}\n${executor}`;
    const id = this.executorIds.get(name) ?? statements.executorId.get(node, executor)?.id;
    return id === undefined ? undefined : executorKeyOf(kept(this.executorIds, name, id));
  }

  private readonly onCommit = (): void => {
    this.isInDoubt = false;
    if (this.hasNews) this.file.turns.tellNews();
  };

  private statements(database: Database): Statements {
    if (this.prepared?.database !== database) {
      this.prepared = { database, statements: prepare(database) };
      this.forget(); // another file has numbers of its own
    }
    return this.prepared.statements;
  }

  private forget(): void {
    this.channelIds.clear();
    this.executorIds.clear();
    this.shapes.forget();
  }
}

/** The key of an executor's own row. */
export function executorKeyOf(id: number): number {
  return id * slotsPerExecutor;
}

/** The key of a slot's claim. */
export function claimKey(executorKey: number, slot: number): number {
  return executorKey + 1 + slot;
}

function kept(numbers: Map<string, number>, name: string, number: number): number {
  if (numbers.size >= mostKept) numbers.clear();
  numbers.set(name, number);
  return number;
}
