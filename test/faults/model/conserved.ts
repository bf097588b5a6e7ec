import type { StoredState } from "../../support/stored-state.ts";
import type { Model, ModelSuspicion } from "./model.ts";
import type { Real } from "./real.ts";

/**
 * Compares all that is stored with the model.
 *
 * @throws Error that names every difference
 */
export async function conserved(model: Model, real: Real): Promise<void> {
  const state = await real.state();
  const problems = [
    ...misplaced(model, state),
    ...wrongClaims(model, state),
    ...difference("processed", model.processed, state.processed),
    ...difference("failed", model.failed, state.failed),
    ...difference("nodes", namesOfNodes(model), state.nodes.join(" ")),
    ...difference("paused", [...model.paused].toSorted().join(" "), state.paused.join(" ")),
    ...model.jobs.flatMap(({ id, crashes }) =>
      difference(`crashes of ${id}`, crashes, state.crashes.get(id) ?? 0),
    ),
    ...model.jobs.flatMap(({ id, crashes, suspicion, state: place }) =>
      place === "gone"
        ? []
        : difference(`suspicion of ${id}`, told(crashes, suspicion), state.suspicions.get(id) ?? "none"),
    ),
  ];
  if (problems.length > 0)
    throw new Error(`the store is not as the model has it:\n  ${problems.join("\n  ")}`);
}

function told(crashes: number, suspicion: ModelSuspicion | undefined): string {
  if (suspicion === undefined) return "none";
  return `${crashes} crashes, ${suspicion.waits} waits${suspicion.isPoison ? ", poison" : ""}`;
}

/** Every published job is in exactly one place, and nothing else is. */
function misplaced(model: Model, { jobs }: StoredState): string[] {
  const places = new Map<string, string[]>();
  for (const { id, state, where } of jobs)
    places.set(id, [...(places.get(id) ?? []), `${state} ${where}`.trim()]);
  const wanted = new Map(
    model.jobs.map(({ id, state, channel }) => [id, state === "ready" ? `ready ${channel}` : state]),
  );
  for (const { job, worker, slot } of model.claims) {
    wanted.set(job.id, `claimed ${worker.node.identity} ${worker.name}.${slot}`);
  }
  return [...new Set([...wanted.keys(), ...places.keys()])].flatMap((id) =>
    difference(id, wanted.get(id) ?? "unknown", (places.get(id) ?? ["gone"]).join(" and ")),
  );
}

function wrongClaims(model: Model, { claims }: StoredState): string[] {
  const text = (each: readonly string[]) => [...each].toSorted().join(", ");
  const stored = claims.map(({ id, token, where }) => `${id} ${token} ${where}`);
  const wanted = model.claims.map(
    ({ job, token, worker, slot }) => `${job.id} ${token} ${worker.node.identity} ${worker.name}.${slot}`,
  );
  return difference("claims", text(wanted), text(stored));
}

function namesOfNodes({ nodes }: Model): string {
  const stored = nodes.filter(({ state }) => state !== "gone").map(({ identity }) => identity);
  return stored.toSorted().join(" ");
}

function difference<T extends string | number>(what: string, wanted: T, found: T): string[] {
  return wanted === found ? [] : [`${what}: expected ${wanted}, found ${found}`];
}
