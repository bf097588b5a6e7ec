import type { Page } from "../store/catalog-store.ts";

/**
 * All pages from the first to the last, empty ones left away.
 *
 * @throws the signal's reason when it is aborted between two pages
 */
export async function* pagesOf<T>(
  read: (cursor: string | undefined) => Promise<Page<T>>,
  signal?: AbortSignal,
): AsyncGenerator<readonly T[]> {
  let cursor: string | undefined;
  do {
    signal?.throwIfAborted();
    const page = await read(cursor);
    if (page.items.length > 0) yield page.items;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/** The same, one item at a time. */
export async function* itemsOf<T>(
  read: (cursor: string | undefined) => Promise<Page<T>>,
  signal?: AbortSignal,
): AsyncGenerator<T> {
  for await (const items of pagesOf(read, signal)) yield* items;
}
