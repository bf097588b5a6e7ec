declare const self: Worker;

/** Resolves when the cell no longer holds this value. */
export async function awaitChange(cells: Int32Array, cell: number, seen: number): Promise<void> {
  const wait = Atomics.waitAsync(cells, cell, seen);
  if (wait.async) await wait.value;
}

if (!Bun.isMainThread) {
  self.onmessage = async ({ data }: MessageEvent<SharedArrayBuffer>) => {
    const cells = new Int32Array(data);
    self.postMessage("ready");
    for (let seen = 0; ; seen++) {
      await awaitChange(cells, 0, seen);
      Atomics.store(cells, 1, seen + 1);
      Atomics.notify(cells, 1);
    }
  };
}
