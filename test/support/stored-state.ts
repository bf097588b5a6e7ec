import { Database } from "bun:sqlite";
import type { RedisClient } from "bun";
import { jobState, placeBits, slotBits } from "../../src/store/sqlite/schema.ts";

/** Every envelope that is stored, every claim, and what is counted: read past the library, at one moment. */
export interface StoredState {
  readonly jobs: readonly StoredJob[];
  readonly claims: readonly StoredClaimRecord[];
  readonly processed: number;
  readonly failed: number;
  /** By job. */
  readonly crashes: ReadonlyMap<string, number>;
  /** By job, in words. */
  readonly suspicions: ReadonlyMap<string, string>;
  readonly nodes: readonly string[];
  readonly paused: readonly string[];
}

export interface StoredJob {
  readonly id: string;
  readonly state: "ready" | "claimed" | keyof typeof jobState;
  /** The channel it waits in, or `<node> <holder>` of a claim; empty elsewhere. */
  readonly where: string;
}

export interface StoredClaimRecord {
  readonly id: string;
  readonly token: string;
  /** As `StoredJob.where`: the node, a space, the executor, a point and the slot. */
  readonly where: string;
}

export async function redisState(client: RedisClient, prefix: string): Promise<StoredState> {
  const [jobs, claims, facts] = (await client.send("EVAL", [redisScript, "0", prefix])) as [
    string[],
    string[],
    [string | null, string | null, string[], string[], string[], string[]],
  ];
  const [processed, failed, crashes, nodes, paused, suspects] = facts;
  return {
    jobs: triples(jobs).map(([state, where, payload]) => ({
      id: idOf(payload),
      state: state as StoredJob["state"],
      where,
    })),
    claims: triples(claims).map(([node, holder, text]) => {
      const record = JSON.parse(text) as { task_id: string; claim_token: string };
      return { id: record.task_id, token: record.claim_token, where: `${node} ${holder}` };
    }),
    processed: Number(processed ?? 0),
    failed: Number(failed ?? 0),
    crashes: new Map(pairs(crashes).map(([id, count]) => [id, Number(count)])),
    suspicions: new Map(
      pairs(suspects).map(([id, json]) => {
        const { alone, ...rest } = JSON.parse(json) as { crashes: number; waits: number; alone?: boolean };
        return [id, inWords({ ...rest, isPoison: alone === true })];
      }),
    ),
    nodes: nodes.toSorted(),
    paused: paused.toSorted(),
  };
}

/** Reads the file at a path over a connection of its own, or over one that the caller has. */
export function sqliteState(file: string | Database): StoredState {
  if (typeof file !== "string") return file.transaction(() => readState(file))();
  const database = new Database(file, { readonly: true });
  try {
    return sqliteState(database);
  } finally {
    database.close();
  }
}

function readState(database: Database): StoredState {
  const all = <T>(sql: string) => database.query<T, []>(sql).all();
  const names = new Map(Object.entries(jobState).map(([name, value]) => [value, name as StoredJob["state"]]));
  const timed = all<{ id: string; state: number }>("SELECT id, state FROM jobs");
  const claims = all<StoredClaimRecord & { isHeld: number }>(
    `SELECT claims.id AS id, token, node || ' ' || executor || '.' || ((key & ${2 ** slotBits - 1}) - 1) AS "where",
       payload IS NOT NULL AS isHeld
     FROM claims LEFT JOIN executors ON executors.id = key >> ${slotBits} WHERE claims.id IS NOT NULL`,
  );
  const counted = (name: "processed" | "failed") =>
    all<{ n: number }>(
      `SELECT value + (SELECT coalesce(sum(${name}), 0) FROM claims) AS n FROM counters WHERE name = '${name}'`,
    )[0]?.n ?? 0;
  return {
    jobs: [
      ...all<StoredJob>(
        `SELECT ready.id AS id, 'ready' AS state, name AS "where"
         FROM ready JOIN channels ON channels.id = seq >> ${placeBits}`,
      ),
      ...claims.flatMap(({ id, where, isHeld }) =>
        isHeld ? [{ id, state: "claimed" as const, where }] : [],
      ),
      ...timed.map(({ id, state }) => ({
        id,
        state: names.get(state as (typeof jobState)["planned"]) ?? "planned",
        where: "",
      })),
    ],
    claims: claims.map(({ id, token, where }) => ({ id, token, where })),
    processed: counted("processed"),
    failed: counted("failed"),
    crashes: new Map(
      all<{ id: string; count: number }>("SELECT id, count FROM crashes").map(({ id, count }) => [id, count]),
    ),
    suspicions: new Map(
      all<{ id: string; crashes: number; waits: number; alone: number }>("SELECT * FROM suspects").map(
        ({ id, alone, ...rest }) => [id, inWords({ ...rest, isPoison: alone === 1 })],
      ),
    ),
    nodes: all<{ identity: string }>("SELECT identity FROM nodes ORDER BY 1").map(({ identity }) => identity),
    paused: all<{ name: string }>("SELECT name FROM channels WHERE paused = 1 ORDER BY 1").map(
      ({ name }) => name,
    ),
  };
}

const redisScript = `
local prefix, jobs, claims, crashes = ARGV[1], {}, {}, {}
local function add(state, where, payloads)
  for _, payload in ipairs(payloads) do
    jobs[#jobs + 1], jobs[#jobs + 2], jobs[#jobs + 3] = state, where, payload
  end
end
for _, key in ipairs(redis.call('KEYS', prefix .. '*')) do
  local name = string.sub(key, #prefix + 1)
  local channel = string.match(name, '^channel:(.*)$')
  local node, holder = string.match(name, '^node:(.-):claimed:(.*)$')
  local owner = string.match(name, '^node:(.-):claims$')
  local id = string.match(name, '^crashes:(.*)$')
  if channel then add('ready', channel, redis.call('LRANGE', key, 0, -1))
  elseif node then add('claimed', node .. ' ' .. holder, redis.call('LRANGE', key, 0, -1))
  elseif owner then
    local records = redis.call('HGETALL', key)
    for i = 1, #records, 2 do
      claims[#claims + 1], claims[#claims + 2], claims[#claims + 3] = owner, records[i], records[i + 1]
    end
  elseif id then crashes[#crashes + 1], crashes[#crashes + 2] = id, redis.call('GET', key) end
end
add('planned', '', redis.call('ZRANGE', prefix .. 'planned', 0, -1))
add('retrying', '', redis.call('ZRANGE', prefix .. 'retries', 0, -1))
add('discarded', '', redis.call('ZRANGE', prefix .. 'discarded', 0, -1))
return { jobs, claims, { redis.call('GET', prefix .. 'metrics:processed'), redis.call('GET', prefix .. 'metrics:failed'),
  crashes, redis.call('SMEMBERS', prefix .. 'nodes'), redis.call('SMEMBERS', prefix .. 'paused_channels'),
  redis.call('HGETALL', prefix .. 'suspects') } }`;

function inWords(found: { crashes: number; waits: number; isPoison: boolean }): string {
  return `${found.crashes} crashes, ${found.waits} waits${found.isPoison ? ", poison" : ""}`;
}

function idOf(payload: string): string {
  return (JSON.parse(payload) as { id: string }).id;
}

function triples(flat: readonly string[]): [string, string, string][] {
  const result: [string, string, string][] = [];
  for (let i = 0; i + 2 < flat.length; i += 3) result.push([flat[i]!, flat[i + 1]!, flat[i + 2]!]);
  return result;
}

function pairs(flat: readonly string[]): [string, string][] {
  const result: [string, string][] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) result.push([flat[i]!, flat[i + 1]!]);
  return result;
}
