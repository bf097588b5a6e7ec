import { checkIntegrity } from "../../../src/catalog/integrity-run.ts";
import { isProvenDead, ownProof } from "../../../src/store/liveness.ts";
import type { Executor } from "../../../src/store/store.ts";
import type { StoredState } from "../../support/stored-state.ts";
import { channels } from "./actor.ts";
import { differences, expectationOf, type Facts } from "./ledger.ts";
import { nodeRecord, type Place, type Scene, stateAt } from "./scene.ts";

const judge: Executor = { node: "host~bun:1:judge", executor: "w0-1", generation: "g1" };

/**
 * What another node does after the death, in this order: it takes back what the dead held, compares every place
 * with what the ledger allows, checks the store's integrity, and runs all that is ready.
 *
 * @returns what is wrong, in words
 */
export async function afterwards(scene: Scene): Promise<string[]> {
  const faults: string[] = [];
  const places = scene.other === scene.main ? [scene.main] : [scene.main, scene.other];
  for (const place of places) await recoverAll(place, faults);
  const states = await Promise.all(places.map(({ address }) => stateAt(address)));
  faults.push(...differences(expectationOf(scene.ledger.lines()), factsOf(states[0]!, states[1])));
  for (const [i, place] of places.entries()) {
    faults.push(
      ...leftovers(states[i]!),
      ...(await unsound(place, states[i]!)),
      ...(await undrained(place, states[i]!)),
    );
  }
  return faults;
}

/** Recovery as a node does it: by proof that a process is gone, and of claims that no node is named for. */
async function recoverAll({ store }: Place, faults: string[]): Promise<void> {
  await store.open();
  await store.register(nodeRecord(judge.node));
  await store.grant(judge);
  const { nodes } = await store.sightNodes();
  for (const node of nodes) {
    if (node.identity === judge.node) continue;
    const isProven = isProvenDead(node, ownProof());
    if (!isProven) faults.push(`${node.identity} is dead, but nothing proves it`);
    let reply = await store.recover({ identity: node.identity, judge: judge.node, isProven });
    while (reply.state === "more") {
      reply = await store.recover({ identity: node.identity, judge: judge.node, isProven });
    }
    if (reply.state !== "done") faults.push(`the recovery of ${node.identity} ended ${reply.state}`);
  }
}

function factsOf(main: StoredState, other: StoredState | undefined): Facts {
  const places = new Map<string, string[]>();
  const meet = (id: string, place: string) => places.set(id, [...(places.get(id) ?? []), place]);
  for (const { id, state } of main.jobs) meet(id, state);
  for (const { id, state } of other?.jobs ?? []) meet(id, `other:${state}`);
  return {
    ...Object.fromEntries([...places].map(([id, found]) => [id, found.toSorted(byLength).join(" + ")])),
    "#processed": String(main.processed),
    "#failed": String(main.failed),
    "#paused": main.paused.join(" "),
  };
}

/** The main place first. */
function byLength(a: string, b: string): number {
  return Number(a.startsWith("other:")) - Number(b.startsWith("other:")) || a.localeCompare(b);
}

function leftovers({ claims, nodes, crashes }: StoredState): string[] {
  const twice = [...crashes].filter(([, count]) => count > 1);
  return [
    ...claims.map(({ id, where }) => `a claim of ${id} is left with ${where}`),
    ...nodes.filter((node) => node !== judge.node).map((node) => `the node ${node} is left`),
    ...twice.map(([id, count]) => `one death counts as ${count} crashes of ${id}`),
  ];
}

async function unsound({ catalog, address }: Place, { jobs }: StoredState): Promise<string[]> {
  const report = await checkIntegrity(catalog, { expectedIds: jobs.map(({ id }) => id) });
  if (report.isSound && report.states.size === jobs.length) return [];
  const { states, ...rest } = report;
  return [
    `the integrity check of ${address.engine} met ${states.size} of ${jobs.length} jobs: ${JSON.stringify(rest)}`,
  ];
}

/** Every job that is ready must come once to a node that asks. */
async function undrained({ store, catalog, address }: Place, before: StoredState): Promise<string[]> {
  for (const channel of before.paused) await catalog.resume(channel);
  const wanted = before.jobs.filter(({ state }) => state === "ready").map(({ id }) => id);
  const ran: string[] = [];
  for (;;) {
    const slots = Array.from({ length: 100 }, (_, slot) => slot);
    const { reserved } = await store.cycle({ executor: judge, settlements: [], slots, channels });
    if (reserved.length === 0) break;
    const settlements = reserved.map(({ slot, token, raw }) => {
      const { id } = JSON.parse(raw) as { id: string };
      ran.push(id);
      return { slot, token, jobId: id, outcome: "ack" } as const;
    });
    await store.cycle({ executor: judge, settlements, slots: [], channels });
  }
  const left = (await stateAt(address)).jobs.filter(({ state }) => state === "ready" || state === "claimed");
  const isSame = ran.toSorted().join() === wanted.toSorted().join() && left.length === 0;
  return isSame ? [] : [`of ${wanted.length} ready jobs ${ran.length} could be run, ${left.length} are left`];
}
