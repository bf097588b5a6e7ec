let doTasksComeFromOutside = false;

/** Says that this program's bundle holds no tasks: it loads them from files, where classes keep their names. */
export function tasksComeFromOutside(): void {
  doTasksComeFromOutside = true;
}

/** Whether a class's name may be what a bundler made of it. */
export function areClassesRenamed(): boolean {
  return isBundled() && !doTasksComeFromOutside;
}

/**
 * Whether this program was put together by a bundler, `bun build --compile` included. Bundlers rename
 * classes, so that a class's name says nothing there.
 */
export function isBundled(path: string = import.meta.path, main: string = Bun.main): boolean {
  const isOwnFile = /[\\/]task[\\/]bundled\.ts$/.test(path);
  return !isOwnFile || isCompiledPath(path) || isCompiledPath(main);
}

/** Where the files of an executable are seen from inside. */
function isCompiledPath(path: string): boolean {
  return path.startsWith("/$bunfs/") || /^[A-Za-z]:[\\/]~BUN[\\/]/.test(path);
}
