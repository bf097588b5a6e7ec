import type { Fault } from "../fault.ts";

const both = ["redis", "sqlite"] as const;
const errorSeconds = 600;

/** What a process is started with so that faketime sets its clock. Under the program `faketime` it would be a child of it. */
let library: string | undefined;

function clockEnvironment(seconds: number): Record<string, string> {
  library ??= Bun.spawnSync(["faketime", "-f", "+0", "printenv", "LD_PRELOAD"]).stdout.toString().trim();
  return { LD_PRELOAD: library, FAKETIME: `${seconds > 0 ? "+" : ""}${seconds}` };
}

function wrongClock(name: string, seconds: number): Fault {
  return {
    name,
    does: `runs a node whose clock is ${errorSeconds / 60} minutes ${seconds > 0 ? "ahead" : "behind"}, to the end of the run`,
    engines: both,
    takesMs: 2500,
    harmlessOn: both,
    weight: 4,
    once: "clock", // in a file all times are by the processes' clocks: one that is right must be left
    reasonAgainst: () =>
      Bun.which("faketime") === null ? "needs faketime (Debian: apt-get install faketime)" : undefined,
    async strike(world) {
      const victim = await world.victim();
      const env = { ...victim.seat.setup.env, ...clockEnvironment(seconds) };
      const skewed = await world.fleet.restartAs(victim, { env, clockErrorMs: seconds * 1000 });
      await world.victim((node) => node === skewed);
      const at = Date.now();
      await Bun.sleep(1000);
      world.strikes.push({ fault: name, at, until: Date.now(), scope: [skewed.name] });
    },
  };
}

/** Nodes whose clock is wrong; beats, due times and the judgement who is dead go by the store's. */
export const clockFaults: readonly Fault[] = [
  wrongClock("clock-ahead", errorSeconds),
  wrongClock("clock-behind", -errorSeconds),
];
