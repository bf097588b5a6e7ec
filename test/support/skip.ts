import { test } from "bun:test";

/** Marks the reason in a skipped test's name; the runner lists it and refuses a skip without one. */
export const skipMark = "[skipped: ";

/**
 * A test that runs unless there is a reason against it on this machine, such as
 * `testUnless(isRoot ? undefined : "needs root")("name", ...)`.
 */
export function testUnless(reason: string | undefined): (name: string, fn: () => unknown) => void {
  if (reason === undefined) return (name, fn) => void test(name, fn as () => Promise<void>);
  return (name, fn) => void test.skip(`${name} ${skipMark}${reason}]`, fn as () => Promise<void>);
}
