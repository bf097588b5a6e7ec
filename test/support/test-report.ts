import { skipMark } from "./skip.ts";

/** What a run of `bun test` left: its exit status, its closing lines and its JUnit report. */
export interface TestRun {
  readonly exitCode: number;
  readonly output: string;
  /** Undefined when the run ended without writing one. */
  readonly junit: string | undefined;
  /** The test files that had to run; undefined when flags choose tests, which shows the others as skipped. */
  readonly expectedFiles: readonly string[] | undefined;
}

export interface TestReport {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly string[];
  /** Why the run does not count as passed although no test may have failed. */
  readonly problems: readonly string[];
}

/**
 * Judges a run. An exit status of 0 is no proof: `process.exit(0)` inside a test ends it without a
 * summary, a file without tests passes, and a skipped test is silent about its reason.
 */
export function judge(run: TestRun): TestReport {
  const closing = closingLines(run.output);
  const cases = run.junit === undefined ? [] : testCases(run.junit);
  const isSelective = run.expectedFiles === undefined;
  const skipped = cases.filter((each) => each.isSkipped && !isSelective).map((each) => each.name);
  const failed = closing?.failed ?? cases.filter((each) => each.isFailed).length;
  const problems: string[] = [];
  if (closing === undefined) problems.push("bun test ended without its closing lines");
  if (run.junit === undefined) problems.push("bun test wrote no report");
  if (closing?.passed === 0) problems.push("no test passed");
  if (run.exitCode !== 0 && failed === 0) problems.push(`bun test ended with status ${run.exitCode}`);
  for (const file of missingFiles(run, cases)) problems.push(`${file} ran no test`);
  for (const name of skipped) {
    if (!name.includes(skipMark))
      problems.push(`skipped without a reason (see test/support/skip.ts): ${name}`);
  }
  return { passed: closing?.passed ?? 0, failed, skipped, problems };
}

/** The line that CI and people look for, the last of the run. Each problem counts as a failure. */
export function summaryLine({ passed, failed, skipped, problems }: TestReport): string {
  const counts = `${passed} passed, ${failed + problems.length} failed`;
  return skipped.length === 0 ? counts : `${counts}, ${skipped.length} skipped`;
}

function closingLines(output: string): { passed: number; failed: number } | undefined {
  const plain = Bun.stripANSI(output);
  if (!/^Ran \d+ tests? across \d+ files?\./m.test(plain)) return undefined;
  const passed = lastCount(plain, "pass");
  const failed = lastCount(plain, "fail");
  if (passed === undefined || failed === undefined) return undefined;
  return { passed, failed: failed + (lastCount(plain, "errors?") ?? 0) };
}

function lastCount(output: string, word: string): number | undefined {
  const match = [...output.matchAll(new RegExp(`^ *(\\d+) ${word}$`, "gm"))].at(-1);
  return match === undefined ? undefined : Number(match[1]);
}

interface TestCase {
  readonly file: string;
  readonly name: string;
  readonly isSkipped: boolean;
  readonly isFailed: boolean;
}

function testCases(junit: string): TestCase[] {
  return [...junit.matchAll(/<testcase ([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g)].map((match) => ({
    file: attribute(match[1]!, "file"),
    name: [attribute(match[1]!, "classname"), attribute(match[1]!, "name")].filter(Boolean).join(" > "),
    isSkipped: /<skipped\b/.test(match[2] ?? ""),
    isFailed: /<(?:failure|error)\b/.test(match[2] ?? ""),
  }));
}

function missingFiles(run: TestRun, cases: readonly TestCase[]): string[] {
  const ran = new Set(cases.map((each) => each.file));
  return (run.expectedFiles ?? []).filter((file) => !ran.has(file));
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

function attribute(tag: string, name: string): string {
  const value = new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(tag)?.[1] ?? "";
  return value.replace(/&(lt|gt|quot|apos|amp);/g, (_, entity: string) => entities[entity]!);
}
