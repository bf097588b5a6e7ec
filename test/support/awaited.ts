/**
 * Resolves to what `find` answers, as soon as that is neither undefined nor false; asked again every 20 ms.
 *
 * @throws Error naming `what` was waited for, with `dump`, after `deadlineMs` (default 40 s)
 */
export async function awaited<T>(
  what: string,
  find: () => T | undefined | false | Promise<T | undefined | false>,
  { deadlineMs = 40_000, dump = () => "" }: { deadlineMs?: number; dump?: () => string } = {},
): Promise<T> {
  const endsAt = performance.now() + deadlineMs;
  for (;;) {
    const found = await find();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > endsAt)
      throw new Error(`waited ${deadlineMs / 1000} s for ${what} in vain\n${dump()}`);
    await Bun.sleep(20);
  }
}
