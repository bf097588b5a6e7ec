/** How a node of a system is started: workers are threads where the system has them. */
export interface NodeShape {
  readonly workers: number;
  /** Jobs at a time in each worker. */
  readonly slots: number;
}

/** One of the systems that are measured: how its node is started, in a process of its own. */
export interface System {
  readonly name: string;
  /** How the shape of a node is written in this system's words. */
  shapeText(shape: NodeShape): string;
  /** The arguments of Bun that start a node; it prints a line with `node started`, and ends on SIGTERM. */
  nodeArguments(url: string, shape: NodeShape): string[];
}

/** A system's own client. Every job has an index and does nothing but mark it. */
export interface Client {
  /** Publishes the jobs `from` to `to` (exclusive) by the system's call for many. */
  publishMany(from: number, to: number): Promise<unknown>;
  publish(index: number): Promise<unknown>;
  /** Publishes one that is due at `dueMs` (epoch). */
  publishAt(index: number, dueMs: number): Promise<unknown>;
  close(): Promise<void>;
}

export type OpenClient = (url: string) => Client;

/** Jobs of one call for many. */
export const chunk = 1000;
