import type { Fault } from "../fault.ts";

const errorSeconds = 600;

function wrongClock(name: string, seconds: number): Fault {
  return {
    name,
    does: `runs a node whose clock is ${errorSeconds / 60} minutes ${seconds > 0 ? "ahead" : "behind"}, to the end of the run`,
    engines: ["redis", "sqlite"],
    takesMs: 2500,
    weight: 4,
    reasonAgainst: () =>
      Bun.which("faketime") === null ? "needs faketime (Debian: apt-get install faketime)" : undefined,
    async strike(world) {
      const wrapper = ["faketime", "-f", `${seconds > 0 ? "+" : ""}${seconds}`];
      const victim = await world.victim();
      const skewed = await world.fleet.restartAs(victim, { wrapper, clockErrorMs: seconds * 1000 });
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
