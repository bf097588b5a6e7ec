import type { Due, Publication } from "../store.ts";
import type { RedisArgument } from "./connection.ts";

/** The arguments of `lua/publish.lua` behind its nonce: envelopes by their channels, then the planned ones. */
export function publishArguments(
  publications: readonly Publication[],
  { prefix, barrier }: { readonly prefix: string; readonly barrier: string },
): RedisArgument[] {
  const [only] = publications;
  if (publications.length === 1 && only !== undefined && only.due === undefined) {
    return [prefix, barrier, "1", only.channel, "1", only.payload];
  }
  const ready = new Map<string, string[]>();
  const planned: RedisArgument[] = [];
  let channel: string | undefined;
  let ofChannel: string[] = [];
  for (const publication of publications) {
    if (publication.channel !== channel) {
      channel = publication.channel;
      ofChannel = ready.get(channel) ?? [];
      ready.set(channel, ofChannel);
    }
    if (publication.due === undefined) ofChannel.push(publication.payload);
    else planned.push(...dueArguments(publication.due), publication.payload);
  }
  const args: RedisArgument[] = [prefix, barrier, ready.size];
  for (const [name, payloads] of ready) {
    args.push(name, payloads.length);
    for (const payload of payloads) args.push(payload);
  }
  for (const argument of planned) args.push(argument);
  return args;
}

function dueArguments(due: Due): [string, number] {
  return "afterSeconds" in due ? ["after", due.afterSeconds] : ["at", due.atSeconds];
}
