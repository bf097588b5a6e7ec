import { StoreError } from "../../foundation/errors.ts";
import type {
  CatalogStore,
  ChannelView,
  ClaimHolder,
  ClaimView,
  EntryPlace,
  EntrySet,
  ExecutionView,
  NodeView,
  Page,
  PageOptions,
  PurgeablePlace,
  PurgeStep,
  RequeueResult,
  RequeueStep,
  StoredCounters,
  StoredEntry,
  Survey,
} from "../catalog-store.ts";
import { executionView } from "../execution-view.ts";
import type { NodeSignal } from "../store.ts";
import { redisAddress } from "./address.ts";
import { locatorFrom } from "./catalog-cursors.ts";
import { CatalogReader } from "./catalog-reader.ts";
import { catalogScripts } from "./catalog-scripts.ts";
import {
  type ChannelRow,
  type ClaimRow,
  channelView,
  claimView,
  type NodeRow,
  nodeView,
} from "./catalog-views.ts";
import { RedisConnection } from "./connection.ts";
import { RedisKeys } from "./keys.ts";
import type { Script } from "./script.ts";

export interface RedisCatalogOptions {
  readonly url: string;
  readonly prefix: string;
  readonly tlsCa?: string | undefined;
}

const entriesPerCall = 100;
const bytesPerCall = 1024 * 1024;
/** Moving takes several copies of each entry, so that less of them fits into the time of one call. */
const bytesMovedPerCall = 512 * 1024;
/** Records of running jobs may hold whole envelopes, and HSCAN cannot be bounded by bytes. */
const executionsPerCall = 10;

/** Inspection and administration on Redis, on a connection of its own. */
export class RedisCatalog implements CatalogStore {
  readonly address: string;
  private readonly keys: RedisKeys;
  private readonly connection: RedisConnection;
  private readonly reader: CatalogReader;

  /** Opens nothing: the first call connects. */
  constructor({ url, prefix, tlsCa }: RedisCatalogOptions) {
    const address = redisAddress(url, tlsCa);
    this.address = address.display;
    this.keys = new RedisKeys(prefix);
    this.connection = new RedisConnection(address);
    this.reader = new CatalogReader(this.connection, this.keys);
  }

  async close(): Promise<void> {
    this.connection.close();
  }

  async counters(): Promise<StoredCounters> {
    const { processed, failed, planned, retries, discarded, channels, nodes } = this.keys;
    const reply = await this.run(
      catalogScripts.counters,
      [processed, failed, planned, retries, discarded, channels, nodes],
      [],
    );
    const [done, failures, ...sizes] = reply.map((value) => Number(value) || 0);
    return {
      processed: done ?? 0,
      failed: failures ?? 0,
      planned: sizes[0] ?? 0,
      retrying: sizes[1] ?? 0,
      discarded: sizes[2] ?? 0,
      channels: sizes[3] ?? 0,
      nodes: sizes[4] ?? 0,
    };
  }

  // -------------------------------------------------------------------------------------- channels

  /** The known channels first, then those that are only paused: the cursor's first letter says which. */
  async channels(cursor = "known:0"): Promise<Page<ChannelView>> {
    const [set, position] = cursor.split(":");
    const isKnown = set === "known";
    const key = isKnown ? this.keys.channels : this.keys.pausedChannels;
    const page = await this.reader.scan("SSCAN", key, position);
    const items: ChannelView[] = [];
    await this.inSteps(page.items, async (names) => {
      const [nowMs, rows] = (await this.run(
        catalogScripts.channels,
        [this.keys.channels, this.keys.pausedChannels],
        [this.keys.prefix, bytesPerCall, ...names],
      )) as [string, ChannelRow[]];
      for (const [i, row] of rows.entries()) {
        const isListedBefore = !isKnown && row[3] === 1;
        if (!isListedBefore) items.push(channelView(names[i]!, row, Number(nowMs)));
      }
      return rows.length;
    });
    const after = isKnown ? "paused:0" : undefined;
    return { items, cursor: page.cursor === undefined ? after : `${set}:${page.cursor}` };
  }

  pause(channel: string): Promise<boolean> {
    return this.setPaused(channel, "pause");
  }

  resume(channel: string): Promise<boolean> {
    return this.setPaused(channel, "resume");
  }

  private async setPaused(channel: string, action: "pause" | "resume"): Promise<boolean> {
    const args = [this.keys.prefix, channel, action];
    const [changed] = await this.run(catalogScripts.pause, [this.keys.pausedChannels], args);
    return changed === 1;
  }

  // -------------------------------------------------------------------------------------- entries

  entries(place: EntryPlace, options: PageOptions = {}): Promise<Page<StoredEntry>> {
    switch (place.state) {
      case "ready":
        return this.reader.list(this.keys.channel(place.channel), options);
      case "claimed":
        return this.reader.list(this.claimedKey(place), options);
      default:
        return this.reader.set(this.setKey(place.state), options);
    }
  }

  async remove(set: EntrySet, locator: string): Promise<boolean> {
    return (await this.sweepOne(set, locator, "remove")) === "done";
  }

  async requeue(set: EntrySet, locator: string): Promise<RequeueResult> {
    const state = await this.sweepOne(set, locator, "requeue");
    return state === "done" ? "requeued" : state;
  }

  /** Looks around the entry's place when it was read, then at all entries of its score. */
  private async sweepOne(
    set: EntrySet,
    locator: string,
    action: "remove" | "requeue",
  ): Promise<"done" | Exclude<RequeueResult, "requeued">> {
    const { score, digest, place, channel } = locatorFrom(locator);
    const meant = { digest, score, most: entriesPerCall, channel };
    const near = await this.sweep(set, action, { ...meant, skip: Math.max(0, place - entriesPerCall / 2) });
    if (near.state !== "more" && near.state !== "gone") return near.state;
    for (let skip = 0; ; ) {
      const { state, kept } = await this.sweep(set, action, { ...meant, skip });
      if (state !== "more") return state;
      skip += kept;
    }
  }

  async requeueStep(
    set: EntrySet,
    { skip, most }: { readonly skip: number; readonly most: number },
  ): Promise<RequeueStep> {
    const limit = Math.min(most, entriesPerCall);
    const args = { digest: "", score: "", skip, most: limit, channel: undefined };
    const { done, kept, remaining } = await this.sweep(set, "requeue", args);
    return { requeued: done, kept, remaining };
  }

  private async sweep(
    set: EntrySet,
    action: "remove" | "requeue",
    meant: { digest: string; score: string; skip: number; most: number; channel: string | undefined },
  ) {
    const reply = await this.run(
      catalogScripts.sweep,
      [this.setKey(set), this.keys.channels, this.keys.attempts],
      [
        this.keys.prefix,
        action,
        meant.digest,
        meant.score,
        meant.skip,
        meant.most,
        bytesMovedPerCall,
        meant.channel ?? "",
      ],
    );
    const [state, done, kept, remaining] = reply as [SweepState, number, number, number];
    return { state, done, kept, remaining };
  }

  async purgeStep(place: PurgeablePlace): Promise<PurgeStep> {
    const isList = place.state === "ready";
    const key = isList ? this.keys.channel(place.channel) : this.setKey(place.state);
    const args = [this.keys.prefix, isList ? "list" : "zset", entriesPerCall, bytesPerCall];
    const reply = await this.run(catalogScripts.purge, [key, this.keys.attempts], args);
    const [removed, remaining] = reply as [number, number];
    return { removed, remaining };
  }

  // -------------------------------------------------------------------------------------- nodes

  async nodes(cursor?: string): Promise<Page<NodeView>> {
    const page = await this.reader.scan("SSCAN", this.keys.nodes, cursor);
    if (page.items.length === 0) return { items: [], cursor: page.cursor };
    const args = [this.keys.prefix, ...page.items];
    const reply = await this.run(catalogScripts.nodes, [this.keys.nodes], args);
    const [nowSeconds, rows] = reply as [string, NodeRow[]];
    const items = rows.map((row, i) => nodeView(page.items[i]!, row, Number(nowSeconds)));
    return { items, cursor: page.cursor };
  }

  async signal(identity: string, signal: NodeSignal): Promise<boolean> {
    const keys = [this.keys.nodes, this.keys.nodeSignals(identity)];
    const [isKnown] = await this.run(catalogScripts.signal, keys, [this.keys.prefix, identity, signal]);
    return isKnown === 1;
  }

  async executions(identity: string, cursor?: string): Promise<Page<ExecutionView>> {
    const page = await this.reader.scanPairs(this.keys.nodeWork(identity), cursor, executionsPerCall);
    const items = page.items.map(([executor, text]) => executionView(identity, executor, text));
    return { items, cursor: page.cursor };
  }

  // -------------------------------------------------------------------------------------- claims

  async claims(identity: string, cursor?: string): Promise<Page<ClaimView>> {
    const page = await this.reader.scanPairs(this.keys.nodeClaims(identity), cursor);
    const holders = page.items.map(([holder]) => holder);
    return { items: await this.claimViews(identity, holders), cursor: page.cursor };
  }

  async claim({ node, holder }: ClaimHolder): Promise<ClaimView | undefined> {
    return (await this.claimViews(node, [holder]))[0];
  }

  private async claimViews(node: string, holders: readonly string[]): Promise<ClaimView[]> {
    const views: ClaimView[] = [];
    await this.inSteps(holders, async (some) => {
      const reply = await this.run(catalogScripts.claims, [this.keys.node(node)], [bytesPerCall, ...some]);
      const rows = reply[0] as ClaimRow[];
      for (const [i, row] of rows.entries()) {
        const view = claimView({ node, holder: some[i]! }, row);
        if (view !== undefined) views.push(view);
      }
      return rows.length;
    });
    return views;
  }

  // -------------------------------------------------------------------------------------- walks

  async survey(cursor?: string): Promise<Survey> {
    const page = await this.reader.scanKeys(cursor);
    const channelStart = this.keys.channel("");
    const nodeStart = this.keys.node("");
    const channels: string[] = [];
    const holders: ClaimHolder[] = [];
    const nodes: string[] = [];
    for (const key of page.items) {
      if (key.startsWith(channelStart)) channels.push(key.slice(channelStart.length));
      if (!key.startsWith(nodeStart)) continue;
      const [node, holder] = split(key.slice(nodeStart.length), ":claimed:");
      if (holder !== undefined) holders.push({ node, holder });
      else if (key.endsWith(":claims")) nodes.push(key.slice(nodeStart.length, -":claims".length));
    }
    return { channels, holders, nodes, cursor: page.cursor };
  }

  async attempts(cursor?: string): Promise<Page<string>> {
    const page = await this.reader.scanPairs(this.keys.attempts, cursor);
    return { items: page.items.map(([id]) => id), cursor: page.cursor };
  }

  async ids(key: string, cursor?: string): Promise<Page<string>> {
    const kind = await this.connection.call("TYPE", [key]);
    switch (kind) {
      case "none":
        return { items: [], cursor: undefined };
      case "set":
        return this.reader.scan("SSCAN", key, cursor);
      case "hash":
      case "zset": {
        const page = await this.reader.scanPairs(
          key,
          cursor,
          entriesPerCall,
          kind === "hash" ? "HSCAN" : "ZSCAN",
        );
        return { items: page.items.map(([id]) => id), cursor: page.cursor };
      }
      case "list":
        return this.reader.texts(key, cursor);
      default:
        throw new StoreError(
          `${this.address}: expected a set, list, sorted set or hash of ids at "${key}", it is a ${kind}`,
        );
    }
  }

  // -------------------------------------------------------------------------------------- helpers

  private run(script: Script, keys: readonly string[], args: readonly (string | number)[]) {
    return this.connection.script(script, keys, args);
  }

  /** Calls `step` until it has looked at all names; it says how many it looked at, at least one. */
  private async inSteps(
    names: readonly string[],
    step: (names: readonly string[]) => Promise<number>,
  ): Promise<void> {
    for (let done = 0; done < names.length; )
      done += Math.max(1, await step(names.slice(done, done + entriesPerCall)));
  }

  private setKey(set: EntrySet): string {
    return this.keys[set === "retrying" ? "retries" : set];
  }

  private claimedKey({ node, holder }: ClaimHolder): string {
    return `${this.keys.node(node)}:claimed:${holder}`;
  }
}

type SweepState = "done" | "more" | Exclude<RequeueResult, "requeued">;

function split(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)];
}
