import type { Suspicion } from "./store.ts";

/** The default of the setting `max_crashes`. */
export const defaultMaxCrashes = 3;

/** Reads what is stored of a suspect; what cannot be read suspects least. */
export function suspicionFrom(json: string): Suspicion {
  try {
    const { crashes, waits, alone } = JSON.parse(json) as Record<string, unknown>;
    return { crashes: Number(crashes) || 0, waits: Number(waits) || 0, isPoison: alone === true };
  } catch {
    return { crashes: 0, waits: 0, isPoison: false };
  }
}
