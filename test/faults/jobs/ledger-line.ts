/** What jobs, publishers and the harness write down, one JSON text a line. Times are epoch milliseconds by the writer's clock. */
export type LedgerLine = RunLine | MischiefLine | PublicationLine;

/** The beginning or the end of one execution. */
export interface RunLine {
  readonly what: "begin" | "end";
  readonly id: string;
  /** What the publisher called the job, whatever id it got. */
  readonly key: string;
  readonly attempt: number;
  readonly token: string;
  /** The node's name in the harness; a process that is started again has another one. */
  readonly node: string;
  readonly thread: number;
  readonly at: number;
  /** Of an end: whether the task returned. */
  readonly isDone?: boolean;
}

/** A job is about to do what a job should not. */
export interface MischiefLine {
  readonly what: "mischief";
  readonly kind: string;
  readonly id: string;
  readonly token: string;
  readonly node: string;
  readonly thread: number;
  readonly at: number;
}

export interface PublicationLine {
  /**
   * `intent` before the call; then `confirmed`, `unconfirmed` (stored or not) or `refused` (certainly not
   * stored, with the error's code). A killed publisher leaves an intent alone.
   */
  readonly what: "intent" | "confirmed" | "unconfirmed" | "refused";
  readonly keys: readonly string[];
  /** Where they are known: each intent of one job has an id, a publication of many learns them afterwards. */
  readonly ids: readonly string[];
  readonly code?: string;
  readonly at: number;
}
