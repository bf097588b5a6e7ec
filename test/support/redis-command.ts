/**
 * Makes sure that `redis-server` is on PATH: found there, or installed with apt-get where this process may
 * (it is root, and the system has apt-get).
 *
 * @throws Error that says what to install, where it may not or could not
 */
export function ensureRedisServer(): void {
  if (Bun.which("redis-server") !== null) return;
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || Bun.which("apt-get") === null) throw new Error(instruction("is not on PATH"));
  console.error("redis-server is not on PATH: installing it with apt-get");
  const isInstalled =
    run("apt-get", "update", "-qq") &&
    run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "redis-server");
  if (!isInstalled || Bun.which("redis-server") === null) {
    throw new Error(instruction("could not be installed with apt-get"));
  }
  // The package starts a server of its own where services run; nothing here uses it.
  if (Bun.which("service") !== null) run("service", "redis-server", "stop");
}

function run(...command: string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return Bun.spawnSync(command, { env, stdin: "ignore", stdout: "ignore", stderr: "inherit" }).exitCode === 0;
}

function instruction(reason: string): string {
  return (
    `redis-server ${reason}. Install Redis 6.2 or later and try again: ` +
    "apt-get install redis-server (Debian, Ubuntu), dnf install redis (Fedora), brew install redis (macOS)"
  );
}
