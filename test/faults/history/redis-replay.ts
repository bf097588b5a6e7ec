import type { Place, Step } from "./history.ts";

interface Standing {
  readonly places: string[];
  readonly token: string | undefined;
}

/**
 * Does what a server did, command by command, for the keys that hold jobs, and tells where each job went with
 * each transaction. It knows the commands that the scripts use, and refuses others rather than be wrong.
 */
export class RedisReplay {
  readonly steps: Step[] = [];
  readonly doubled: { id: string; places: string[] }[] = [];
  private readonly prefix: string;
  private readonly lists = new Map<string, string[]>();
  private readonly sets = new Map<string, Map<string, number>>();
  private readonly hashes = new Map<string, Map<string, string>>();
  private readonly places = new Map<string, string[]>();
  private readonly touched = new Map<string, Standing>();
  private isInTransaction = false;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  /** @throws Error for a command on a job's key that it does not know */
  apply([verb = "", ...args]: readonly string[], doneBy: number | undefined): void {
    const name = verb.toUpperCase();
    if (name === "MULTI") this.isInTransaction = true;
    else if (name === "EXEC") this.isInTransaction = false;
    else this.write(name, args);
    if (!this.isInTransaction) this.note(doneBy);
  }

  private write(name: string, args: readonly string[]): void {
    if (name === "FLUSHALL" || name === "FLUSHDB") return this.clear();
    const [key = ""] = args;
    if (!this.holdsJobs(key) && !this.holdsClaims(key)) return;
    switch (name) {
      case "LPUSH":
      case "RPUSH":
        for (const payload of args.slice(1)) this.push(key, payload, name === "LPUSH");
        return;
      case "LPOP":
      case "RPOP":
        for (let left = Number(args[1] ?? 1); left > 0; left--) this.pop(key, name === "LPOP");
        return;
      case "LMOVE":
      case "RPOPLPUSH":
        return this.move(name === "LMOVE" ? args : [...args, "RIGHT", "LEFT"]);
      case "LREM":
        return this.removeFromList(key, Number(args[1]), args[2] ?? "");
      case "ZADD":
        return this.addToSet(key, args.slice(1));
      case "ZREM":
        for (const member of args.slice(1)) this.removeFromSet(key, member);
        return;
      case "ZREMRANGEBYRANK":
        return this.removeRanks(key, Number(args[1]), Number(args[2]));
      case "ZPOPMIN":
        return this.removeRanks(key, 0, Number(args[1] ?? 1) - 1);
      case "HSET":
      case "HMSET":
        return this.setFields(key, args.slice(1));
      case "HDEL":
        for (const field of args.slice(1)) this.hashes.get(key)?.delete(field);
        return;
      case "DEL":
      case "UNLINK":
        for (const each of args) this.remove(each);
        return;
    }
    throw new Error(
      `the history does not know ${name} ${args.join(" ").slice(0, 200)}: teach it in redis-replay.ts`,
    );
  }

  // ------------------------------------------------------------------------------ keys

  private placeOf(key: string): Place | undefined {
    const name = key.slice(this.prefix.length);
    if (name.startsWith("channel:")) return "ready";
    if (name === "planned" || name === "discarded") return name;
    if (name === "retries") return "retrying";
    return /^node:.*:claimed:/.test(name) ? "claimed" : undefined;
  }

  private holdsJobs(key: string): boolean {
    return key.startsWith(this.prefix) && this.placeOf(key) !== undefined;
  }

  private holdsClaims(key: string): boolean {
    return key.startsWith(`${this.prefix}node:`) && key.endsWith(":claims");
  }

  // ------------------------------------------------------------------------------ lists and sets

  private push(key: string, payload: string, isLeft: boolean): void {
    const list = this.lists.get(key) ?? [];
    this.lists.set(key, list);
    if (isLeft) list.unshift(payload);
    else list.push(payload);
    this.enter(payload, key);
  }

  private pop(key: string, isLeft: boolean): string | undefined {
    const list = this.lists.get(key);
    const payload = isLeft ? list?.shift() : list?.pop();
    if (payload !== undefined) this.leave(payload, key);
    return payload;
  }

  private move([from = "", to = "", side = "", end = ""]: readonly string[]): void {
    const payload = this.pop(from, side.toUpperCase() === "LEFT");
    if (payload !== undefined) this.push(to, payload, end.toUpperCase() === "LEFT");
  }

  private removeFromList(key: string, count: number, payload: string): void {
    const list = this.lists.get(key) ?? [];
    for (let left = Math.abs(count) || list.length; left > 0; left--) {
      const index = count < 0 ? list.lastIndexOf(payload) : list.indexOf(payload);
      if (index === -1) return;
      list.splice(index, 1);
      this.leave(payload, key);
    }
  }

  private addToSet(key: string, pairs: readonly string[]): void {
    const set = this.sets.get(key) ?? new Map<string, number>();
    this.sets.set(key, set);
    for (let i = 0; i + 1 < pairs.length; i += 2) {
      const member = pairs[i + 1] as string;
      if (!set.has(member)) this.enter(member, key);
      set.set(member, Number(pairs[i]));
    }
  }

  private removeFromSet(key: string, member: string): void {
    if (this.sets.get(key)?.delete(member)) this.leave(member, key);
  }

  private removeRanks(key: string, from: number, to: number): void {
    const members = [...(this.sets.get(key) ?? [])].sort(
      ([a, x], [b, y]) => x - y || Buffer.compare(Buffer.from(a), Buffer.from(b)),
    );
    for (const [member] of members.slice(from, to + 1)) this.removeFromSet(key, member);
  }

  private remove(key: string): void {
    for (const payload of this.lists.get(key) ?? []) this.leave(payload, key);
    this.lists.delete(key);
    for (const member of this.sets.get(key)?.keys() ?? []) this.leave(member, key);
    this.sets.delete(key);
    this.hashes.delete(key);
  }

  private clear(): void {
    for (const key of [...this.lists.keys(), ...this.sets.keys(), ...this.hashes.keys()]) this.remove(key);
  }

  private setFields(key: string, pairs: readonly string[]): void {
    const hash = this.hashes.get(key) ?? new Map<string, string>();
    this.hashes.set(key, hash);
    for (let i = 0; i + 1 < pairs.length; i += 2) hash.set(pairs[i] as string, pairs[i + 1] as string);
  }

  // ------------------------------------------------------------------------------ jobs

  private enter(payload: string, key: string): void {
    const id = idOf(payload);
    this.touch(id);
    this.places.set(id, [...(this.places.get(id) ?? []), key]);
  }

  private leave(payload: string, key: string): void {
    const id = idOf(payload);
    this.touch(id);
    const places = this.places.get(id) ?? [];
    places.splice(places.indexOf(key), 1);
    if (places.length === 0) this.places.delete(id);
  }

  private touch(id: string): void {
    if (!this.touched.has(id)) this.touched.set(id, this.standingOf(id));
  }

  private standingOf(id: string): Standing {
    const places = [...(this.places.get(id) ?? [])];
    const claimed = places.find((key) => this.placeOf(key) === "claimed");
    return { places, token: claimed === undefined ? undefined : this.tokenOf(claimed, id) };
  }

  /** Of the claim record that names the job, whatever its field is called. */
  private tokenOf(claimed: string, id: string): string | undefined {
    const claims = this.hashes.get(`${claimed.slice(0, claimed.indexOf(":claimed:"))}:claims`);
    for (const text of claims?.values() ?? []) {
      const record = JSON.parse(text) as { task_id?: string; claim_token?: string };
      if (record.task_id === id) return record.claim_token;
    }
    return undefined;
  }

  private note(doneBy: number | undefined): void {
    for (const [id, before] of this.touched) {
      const after = this.standingOf(id);
      if (after.places.length > 1) this.doubled.push({ id, places: after.places });
      this.noteStep(id, before, after, doneBy);
    }
    this.touched.clear();
  }

  private noteStep(id: string, before: Standing, after: Standing, doneBy: number | undefined): void {
    const from = this.placeOf(before.places[0] ?? "");
    const to = this.placeOf(after.places[0] ?? "");
    const isHeldOn = from === "claimed" && to === "claimed" && before.token === after.token;
    if ((from === to && from !== "claimed") || isHeldOn) return;
    if (from === "claimed" && to === "claimed") {
      this.steps.push({ id, from, to: "ready", token: before.token, doneBy });
      this.steps.push({ id, from: "ready", to, token: after.token, doneBy });
      return;
    }
    this.steps.push({ id, from, to, token: from === "claimed" ? before.token : after.token, doneBy });
  }
}

/** Ours begin with it; whatever else is parsed. */
function idOf(payload: string): string {
  return /^{"id":"([^"\\]+)"/.exec(payload)?.[1] ?? String((JSON.parse(payload) as { id?: unknown }).id);
}
