import type { Fault } from "../fault.ts";
import type { World } from "../world/world.ts";

const both = ["redis", "sqlite"] as const;

interface Mischief extends Pick<Fault, "harmlessOn"> {
  /** Also the kind of job that does it. */
  readonly name: string;
  readonly does: string;
  readonly takesMs?: number;
  readonly weight?: number;
  /** It takes the whole process along. */
  readonly endsNode?: boolean;
}

const hogBytes = 400_000_000;
const hogChannel = "hog";

/** What jobs do to their thread or process. What it hits is told by the ledger: the job notes it before. */
const mischiefs: readonly Mischief[] = [
  { name: "thread-crash", does: "a job ends its thread in the middle of its work" },
  { name: "process-exit", does: "a job calls process.exit" },
  { name: "uncaught-error", harmlessOn: both, does: "a job leaves an error behind that nobody catches" },
  {
    name: "unhandled-rejection",
    harmlessOn: both,
    does: "a job leaves a rejection behind that nobody handles",
  },
  { name: "endless-loop", does: "a job never ends; its timeout is 0.2 s", takesMs: 7000, weight: 4 },
  { name: "process-abort", does: "a job takes its whole process along", endsNode: true },
];

/** Publishes jobs of the kind and waits until one has done it. */
async function misbehave(
  world: World,
  { name, endsNode }: Mischief,
  given: { channel?: string } = {},
): Promise<void> {
  const ids = new Set(await world.publish(name, 1, given));
  const done = () => world.ledger.refresh().mischief.find(({ id }) => ids.has(id));
  await world.until(`a job to do its ${name}`, () => done() !== undefined, 40_000);
  const node = world.fleet.nodes.find((each) => each.name === done()?.node);
  if (endsNode !== true || node === undefined) return;
  world.fleet.expectEnd(node);
  const hasFailed = () =>
    world.ledger.refresh().runs.some(({ id, isDone }) => ids.has(id) && isDone === false);
  await world.until(
    `${node.name} to end of its ${name}`,
    () => node.process.hasExited || hasFailed(),
    60_000,
  );
}

/** What jobs do to those around them. */
export const jobFaults: readonly Fault[] = [
  ...mischiefs.map(
    (mischief): Fault => ({
      engines: both,
      takesMs: 800,
      ...mischief,
      strike: (world) => misbehave(world, mischief),
    }),
  ),
  {
    name: "memory-hog",
    does: `a job fills the heap of a node that may have ${hogBytes / 1e6} MB, until it dies of it`,
    engines: both,
    takesMs: 5000,
    weight: 2,
    once: "memory-hog",
    reasonAgainst: () => (Bun.which("prlimit") === null ? "needs prlimit (util-linux)" : undefined),
    async strike(world) {
      const victim = await world.victim();
      const { args, env } = victim.seat.setup;
      await world.fleet.restartAs(victim, {
        wrapper: ["prlimit", `--data=${hogBytes}`],
        args: [...args, "--channel", hogChannel],
        env: { ...env, FAULTS_MAY_HOG: "1" },
      });
      await misbehave(world, { name: "memory-hog", does: "", endsNode: true }, { channel: hogChannel });
    },
  },
];
