import { expect, test } from "bun:test";
import { benchProgram } from "../../bench/cli/program.ts";
import type { Options } from "../../bench/method/options.ts";
import type { Part } from "../../bench/parts/part.ts";

const parts: Part[] = ["throughput", "memory"].map((name) => ({
  ...{ name, summary: `measures ${name}` },
  run: async () => {},
}));

/** What a command line asks for, or how it is refused. */
async function given(...args: string[]): Promise<{ parts: string[]; options: Options } | string> {
  let answer: { parts: string[]; options: Options } | string = "";
  let said = "";
  const program = benchProgram({
    ...{ parts, systemNames: ["solid-jobs", "bullmq"] },
    async run(chosen, options) {
      answer = { parts: chosen.map(({ name }) => name), options };
    },
    runExperiments: async () => {},
  });
  const quiet = { writeErr: (text: string) => (said += text), writeOut: (text: string) => (said += text) };
  for (const command of [program, ...program.commands]) {
    command.configureOutput(quiet).exitOverride();
  }
  try {
    await program.parseAsync(args, { from: "user" });
    return answer;
  } catch (error) {
    return `${(error as { exitCode?: number }).exitCode}: ${said.trim()}`;
  }
}

test("without a part all parts are measured, shortly, with everything", async () => {
  expect(await given()).toEqual({
    parts: ["throughput", "memory"],
    options: {
      ...{ isFull: false, repetitions: undefined, scale: 1, systems: undefined, minutes: undefined },
      isSaved: true,
    },
  });
});

test("options may stand before and after the part", async () => {
  const options = {
    ...{ isFull: true, repetitions: 3, scale: 0.1, systems: ["bullmq"], minutes: 30, isSaved: false },
  };
  const flags = [
    "--repetitions",
    "3",
    "--scale",
    "0.1",
    "--systems",
    "bullmq",
    "--minutes",
    "30",
    "--no-save",
  ];
  expect(await given("--full", "memory", ...flags)).toEqual({ parts: ["memory"], options });
  expect(await given(...flags, "memory", "--full")).toEqual({ parts: ["memory"], options });
});

test.each([
  [["nonsense"], 'expected a part (throughput, memory), got "nonsense"'],
  [["memory", "nonsense"], "too many arguments"],
  [["--systems", "solid-jobs,celery"], 'expected some of solid-jobs, bullmq, got "celery"'],
  [["memory", "--repetitions", "1.5"], 'expected a whole number above 0, got "1.5"'],
  [["--scale", "0"], 'expected a number above 0, got "0"'],
  [["--fast"], "unknown option '--fast'"],
])("%p is refused in one line, with status 1", async (args, reason) => {
  const answer = await given(...args);
  expect(answer).toStartWith("1: error: ");
  expect(answer).toContain(reason);
  expect(String(answer).split("\n")).toHaveLength(1);
});

test("help names every part with what it measures", async () => {
  const help = await given("--help");
  expect(help).toContain("measures throughput");
  expect(help).toContain("measures memory");
});
