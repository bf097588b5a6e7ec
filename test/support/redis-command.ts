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
    aptGet("update", "-qq") && aptGet("install", "-y", "-qq", "--no-install-recommends", "redis-server");
  if (!isInstalled || Bun.which("redis-server") === null) {
    throw new Error(instruction("could not be installed with apt-get"));
  }
}

/** With RUNLEVEL=1 the package does not start a server of its own, which nothing here would use. */
function aptGet(...args: string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  const run = Bun.spawnSync(["apt-get", ...args], {
    env,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "inherit",
  });
  return run.exitCode === 0;
}

function instruction(reason: string): string {
  return (
    `redis-server ${reason}. Install Redis 6.2 or later and try again: ` +
    "apt-get install redis-server (Debian, Ubuntu), dnf install redis (Fedora), brew install redis (macOS)"
  );
}
