/** The shape of a job whose envelope is in `bodies`. */
export const inBodies = 0;

/**
 * An envelope of more characters is stored apart, so that a claim or a requeue does not write it again. Below
 * it a job is cheaper to move than to point to.
 */
const largeLength = 2048;

export function isLarge(payload: string | Uint8Array): boolean {
  return payload.length > largeLength;
}

/** What a whole envelope is stored as in `ready`; a large one is added to `bodies` first. */
export function stored(
  add: { get(payload: string | Uint8Array): { id: number } | null },
  payload: string | Uint8Array,
): { readonly shape: number | null; readonly payload: string | Uint8Array | number } {
  if (!isLarge(payload)) return { shape: null, payload };
  return { shape: inBodies, payload: add.get(payload)?.id ?? 0 };
}
