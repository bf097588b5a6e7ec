import { accessSync, constants, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** A job reads its file whole. */
const maxFileBytes = 1024 ** 3;

export interface Tree {
  /**
   * Absolute paths of the regular files, symbolic links not followed; small ones first, so that the jobs
   * scheduled a second ahead do not find every worker inside a very large file.
   */
  readonly files: readonly string[];
  /** Files that cannot be read, or are too large for one job. */
  readonly skipped: readonly string[];
}

/** @throws Error when the path is not a directory or holds no file */
export function treeOf(root: string): Tree {
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`expected a directory, got ${root}: give the path of one, as in npm run demo -- docs`);
  }
  const found = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const sizes = new Map(found.map((file) => [file, readableBytes(file)]));
  const isUsable = (file: string) => sizes.get(file)! <= maxFileBytes;
  const tree = {
    files: found.filter(isUsable).sort((a, b) => sizes.get(a)! - sizes.get(b)!),
    skipped: found.filter((file) => !isUsable(file)),
  };
  if (tree.files.length === 0)
    throw new Error(`${root} holds no file that can be read: give another directory`);
  return tree;
}

/** Infinite for a file that cannot be read. */
function readableBytes(file: string): number {
  try {
    accessSync(file, constants.R_OK);
    return statSync(file).size;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
