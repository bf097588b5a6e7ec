import type { JournaledEntry, TransferEntry, TransferPlace, TransferStore } from "../store/transfer-store.ts";

/** One place of a store on its way into another. */
export interface PlaceMove {
  readonly from: TransferStore;
  readonly to: TransferStore;
  readonly place: TransferPlace;
  readonly journal: string;
  readonly signal?: AbortSignal | undefined;
  /** Told how many entries more were dealt with, after each page. */
  readonly onPage?: ((entries: number) => void) | undefined;
}

export interface PlaceCopy {
  /** Entries that were read, all of which the journal holds now. */
  readonly seen: number;
  readonly added: number;
}

/** Reads a place from its beginning to its end, and adds what has not arrived yet. */
export async function copyPlace(move: PlaceMove): Promise<PlaceCopy> {
  const { from, to, place, journal, signal, onPage } = move;
  const numbered = numbering(place);
  let seen = 0;
  let added = 0;
  let cursor: string | undefined;
  do {
    signal?.throwIfAborted();
    const page = await from.page(place, cursor);
    const entries = numbered(page.entries);
    const missing = await unjournaled(to, journal, entries);
    // Of a channel that is empty there is the name to add.
    if (missing.length > 0 || (place.state === "ready" && cursor === undefined)) {
      added += await to.add(place, journal, missing);
    }
    seen += entries.length;
    onPage?.(entries.length);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return { seen, added };
}

/** Takes away of a place what the journal holds, page by page from the beginning. */
export async function clearPlace(move: PlaceMove): Promise<number> {
  const { from, to, place, journal, signal, onPage } = move;
  const numbered = numbering(place);
  let removed = 0;
  for (;;) {
    signal?.throwIfAborted();
    const { entries } = await from.page(place);
    const unknown = new Set<Uint8Array>();
    for (const { bytes } of await unjournaled(to, journal, numbered(entries))) unknown.add(bytes);
    // Of a channel only what stands before the first unknown one: it is taken from its end.
    const end = place.state === "ready" ? entries.findIndex(({ bytes }) => unknown.has(bytes)) : -1;
    const known = (end === -1 ? entries : entries.slice(0, end)).filter(({ bytes }) => !unknown.has(bytes));
    const gone = known.length === 0 ? 0 : await from.remove(place, known);
    removed += gone;
    onPage?.(gone);
    if (gone < known.length || gone === 0) return removed;
  }
}

async function unjournaled<E extends JournaledEntry>(
  to: TransferStore,
  journal: string,
  entries: readonly E[],
): Promise<E[]> {
  const counts = await to.journaled(
    journal,
    entries.map(({ digest }) => digest),
  );
  return entries.filter(({ occurrence }, i) => (counts[i] ?? 0) < occurrence);
}

/**
 * Gives each entry its digest, and says the so many-th of that digest it is: entries of equal bytes are
 * entries of their own. In a set the time counts too.
 */
function numbering(
  place: TransferPlace,
): (entries: readonly TransferEntry[]) => (TransferEntry & JournaledEntry)[] {
  const counts = new Map<string, number>();
  const name = place.state === "ready" ? `ready:${place.channel}` : place.state;
  return (entries) =>
    entries.map((entry) => {
      const hash = new Bun.CryptoHasher("sha256").update(`${name}\n${entry.at}\n`).update(entry.bytes);
      const digest = hash.digest().subarray(0, 16);
      const key = digest.toString("latin1");
      const occurrence = (counts.get(key) ?? 0) + 1;
      counts.set(key, occurrence);
      return { ...entry, digest, occurrence };
    });
}
