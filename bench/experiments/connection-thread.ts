import { RedisClient } from "bun";
import { type Held, nodeKey, presentArguments, presentReply, type Turn } from "./feeding.ts";

export interface ThreadData {
  readonly executor: string;
  readonly batch: number;
  readonly turns: number;
  readonly sha: string;
  /** Of Redis; undefined: the main thread sends for it. */
  readonly url: string | undefined;
}

/** To the thread. */
export type Order =
  | ({ readonly kind: "begin" } & ThreadData)
  | { readonly kind: "go" }
  | { readonly kind: "reply"; readonly reply: unknown };

/** From the thread. */
export type Answer =
  | { readonly kind: "ready" }
  | { readonly kind: "send"; readonly args: string[] }
  | { readonly kind: "done" };

declare const self: Worker;

let data: ThreadData;
let send: (args: string[]) => Promise<unknown>;
let answered: PromiseWithResolvers<unknown>;

self.onmessage = async ({ data: order }: MessageEvent<Order>) => {
  if (order.kind === "reply") answered.resolve(order.reply);
  if (order.kind === "begin") await begin(order);
  if (order.kind === "go") await work();
};

async function begin(given: ThreadData): Promise<void> {
  data = given;
  send = given.url === undefined ? byMessage : await byConnection(given.url, given.sha);
  say({ kind: "ready" });
}

async function byConnection(url: string, sha: string): Promise<typeof send> {
  const client = new RedisClient(url, { enableAutoPipelining: false });
  await client.connect();
  return (args) => client.send("EVALSHA", [sha, "1", nodeKey, ...args]);
}

function byMessage(args: string[]): Promise<unknown> {
  answered = Promise.withResolvers();
  say({ kind: "send", args });
  return answered.promise;
}

async function work(): Promise<void> {
  const slots = Array.from({ length: data.batch }, (_, slot) => slot);
  let ended: readonly Held[] = [];
  for (let turn = 0; turn < data.turns; turn++) {
    const next: Turn = { nonce: `${data.executor}n${turn}`, ended, slots, executor: data.executor };
    ended = presentReply(await send(presentArguments(next)), next);
  }
  say({ kind: "done" });
}

function say(answer: Answer): void {
  self.postMessage(answer);
}
