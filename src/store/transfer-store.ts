import type { PurgeablePlace } from "./catalog-store.ts";

/**
 * The contract by which jobs move between stores, whatever their engines: pages of raw bytes out of one, and
 * into the other together with a journal of what arrived, so that nothing arrives twice however often it is
 * sent. Every call is atomic, and bounded to about 256 KiB and 500 entries, but always one entry.
 *
 * Nodes must not work on either store meanwhile. Jobs that are published during a move come behind those
 * that were read, or are met by the next reading.
 *
 * All methods throw `StoreUnavailable` when the store does not answer, `StoreFull`, and `StoreError`.
 */
export interface TransferStore {
  /** Where the store is, without credentials, with what tells two stores at one address apart. */
  readonly identity: string;

  /** How many entries a place holds. */
  size(place: TransferPlace): Promise<number>;
  /** What is stored in a place, in the order in which it would be taken; a set by its times. */
  page(place: TransferPlace, cursor?: string): Promise<TransferPage>;
  /**
   * Stores entries in their order behind those that are there, and notes each in the journal; those that the
   * journal holds already are passed over. No entry only makes the channel known.
   *
   * @returns how many were not there before
   */
  add(place: TransferPlace, journal: string, entries: readonly JournaledEntry[]): Promise<number>;
  /** How many entries of each digest the journal holds. */
  journaled(journal: string, digests: readonly Uint8Array[]): Promise<readonly number[]>;
  /**
   * Takes away entries that a page began with, as long as they are unchanged.
   *
   * @returns how many are gone
   */
  remove(place: TransferPlace, entries: readonly TransferEntry[]): Promise<number>;

  /** A word that is kept with a journal. */
  note(journal: string, name: string): Promise<string | undefined>;
  /** @param value undefined takes the note away */
  setNote(journal: string, name: string, value: string | undefined): Promise<void>;
  /** Forgets part of what a journal holds, not its notes. True: call again. */
  forgetStep(journal: string): Promise<boolean>;

  /** Ends the connection. May be called twice. */
  close(): Promise<void>;
}

export type TransferPlace = PurgeablePlace;

export interface TransferPage {
  readonly entries: readonly TransferEntry[];
  /** For the next call; undefined at the end. */
  readonly cursor: string | undefined;
}

export interface TransferEntry {
  /** The envelope, byte for byte. */
  readonly bytes: Uint8Array;
  /** Epoch seconds at which it is due or was discarded; 0 in a channel. */
  readonly at: number;
  /** What `remove` finds it by. */
  readonly mark: string;
}

/** `occurrence`: this is the so many-th entry of its digest, counted from 1. */
export interface JournaledEntry extends Pick<TransferEntry, "bytes" | "at"> {
  readonly digest: Uint8Array;
  readonly occurrence: number;
}
