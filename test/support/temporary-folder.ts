import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A folder of its own for one test; removed when the test's `using` ends. */
export interface TemporaryFolder {
  readonly path: string;
  /** Writes a file, with the folders above it, and answers with its absolute path. */
  write(name: string, content?: string): string;
  [Symbol.dispose](): void;
}

export function temporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), "solid-jobs-test-"));
  return {
    path,
    write: (name, content = "") => {
      const file = join(path, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      return file;
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
