import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { dirname, join, sep } from "node:path";
import { moduleExtensions } from "../config/require-paths.ts";
import { toError } from "../foundation/errors.ts";
import type { Logger } from "../instrumentation/logger.ts";

/** Editors write a file in several steps. */
const settleMs = 100;

export interface Restartable {
  /** Rejects when the modules do not load; the node then waits for the next restart. */
  restart(): Promise<void>;
}

export interface ModuleWatcher {
  close(): void;
}

/**
 * Restarts the node when a module file changes in the folders of `modules` or below. Folders named
 * `node_modules` and those that begin with a dot are left out, and so is every file that cannot be a
 * module: what jobs write must not restart them. One restart at a time; a change during one leads to one more. A
 * restart that fails is logged, and the next change tries again.
 */
export function watchModules(
  modules: readonly string[],
  node: Restartable,
  logger: Logger,
  { settleMs: settle = settleMs }: { settleMs?: number } = {},
): ModuleWatcher {
  const restarter = new Restarter(node, logger, settle);
  const folders = new WatchedFolders(topFolders(modules), (path) => restarter.changed(path), logger);
  return {
    close: () => {
      folders.close();
      restarter.close();
    },
  };
}

/** The modules' folders without those that lie in another one of them. */
export function topFolders(modules: readonly string[]): readonly string[] {
  const folders = [...new Set(modules.map((module) => dirname(module)))].sort();
  return folders.filter((folder) => !folders.some((other) => isInside(folder, other)));
}

function isInside(folder: string, other: string): boolean {
  return folder !== other && folder.startsWith(other.endsWith(sep) ? other : `${other}${sep}`);
}

/** Gathers changes until none came for a while, then restarts. */
class Restarter {
  readonly #node: Restartable;
  readonly #logger: Logger;
  readonly #settleMs: number;
  readonly #changed = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isRestarting = false;
  #isClosed = false;

  constructor(node: Restartable, logger: Logger, settleMs: number) {
    this.#node = node;
    this.#logger = logger;
    this.#settleMs = settleMs;
  }

  changed(path: string): void {
    this.#changed.add(path);
    this.#arm();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #arm(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed || this.#isRestarting) return;
    this.#timer = setTimeout(() => void this.#restart(), this.#settleMs);
  }

  async #restart(): Promise<void> {
    const files = [...this.#changed];
    this.#changed.clear();
    this.#isRestarting = true;
    this.#logger.info("modules changed, restarting", { files });
    try {
      await this.#node.restart();
      this.#logger.info("restarted");
    } catch (error) {
      this.#logger.error("the restart failed; waiting for the next change", { error: toError(error) });
    }
    this.#isRestarting = false;
    if (this.#changed.size > 0) this.#arm();
  }
}

/**
 * One watch for each folder, not a recursive one: that would also watch every folder of `node_modules`. New
 * folders are found when their parent changes.
 */
class WatchedFolders {
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #onChange: (path: string) => void;
  readonly #logger: Logger;

  constructor(roots: readonly string[], onChange: (path: string) => void, logger: Logger) {
    this.#onChange = onChange;
    this.#logger = logger;
    for (const root of roots) this.#add(root);
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** The folder and all below it; module files of a folder that came later count as changed. */
  #add(folder: string, isLater = false): void {
    if (this.#watchers.has(folder)) return;
    const watcher = watch(folder, (_event, name) => this.#noticed(folder, name));
    watcher.on("error", () => this.#remove(folder));
    this.#watchers.set(folder, watcher);
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !isExcluded(entry.name)) this.#tryAdd(path, isLater);
      else if (isLater && isModule(entry.name)) this.#onChange(path);
    }
  }

  /** A folder may vanish, or be unreadable, between its listing and its watch. */
  #tryAdd(folder: string, isLater: boolean): void {
    try {
      this.#add(folder, isLater);
    } catch (error) {
      this.#remove(folder);
      this.#logger.debug("a folder cannot be watched", { folder, error: toError(error) });
    }
  }

  #remove(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }

  #noticed(folder: string, name: string | Buffer | null): void {
    const entry = String(name ?? "");
    if (entry === "" || isExcluded(entry)) return;
    if (isModule(entry)) this.#onChange(join(folder, entry));
    else this.#refresh(join(folder, entry));
  }

  /** Watches a folder that is new, forgets one that is gone. */
  #refresh(path: string): void {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
    if (isFolder) this.#tryAdd(path, true);
    else if (this.#watchers.has(path)) this.#remove(path);
  }
}

function isExcluded(name: string): boolean {
  return name === "node_modules" || name.startsWith(".");
}

function isModule(name: string): boolean {
  return !isExcluded(name) && moduleExtensions.some((extension) => name.endsWith(extension));
}
