import { chownSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, killGroup, noteGroup } from "../method/processes.ts";
import { inTemporaryFolder } from "../method/temporary-folder.ts";

/** Where Debian's packages put each version's programs. */
const debian = "/usr/lib/postgresql";
const maxConnections = 300;
const startTimeoutMs = 30_000;
/** In the order of preference, for a benchmark that root runs: PostgreSQL refuses to run as root. */
const unprivilegedUsers = ["postgres", "nobody"];

/** Folder of the programs of the newest PostgreSQL; undefined when it is not installed. */
function programs(): string | undefined {
  try {
    const versions = readdirSync(debian).sort((a, b) => Number(b) - Number(a));
    const newest = versions[0];
    if (newest !== undefined) return join(debian, newest, "bin");
  } catch (error) {
    if ((error as { code?: string }).code !== "ENOENT") throw error;
  }
  const initdb = Bun.which("initdb");
  return initdb === null ? undefined : join(initdb, "..");
}

/** Why there can be no private PostgreSQL here; undefined when there can. */
export function postgresAbsence(): string | undefined {
  if (programs() === undefined) return "PostgreSQL is not installed";
  if (!isRoot()) return undefined;
  if (Bun.which("setpriv") === null)
    return "setpriv, which lets PostgreSQL run as another user than root, is missing";
  return user() === undefined
    ? `there is no user ${unprivilegedUsers.join(" or ")} to run PostgreSQL as`
    : undefined;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function user(): { name: string; uid: number; gid: number } | undefined {
  for (const name of unprivilegedUsers) {
    const id = (flag: string) => Bun.spawnSync(["id", flag, name]);
    const [uid, gid] = [id("-u"), id("-g")];
    if (uid.exitCode === 0 && gid.exitCode === 0) {
      return { name, uid: Number(uid.stdout.toString()), gid: Number(gid.stdout.toString()) };
    }
  }
  return undefined;
}

/**
 * A private PostgreSQL on a free port, as a user of its own where root runs this, for as long as `body` runs.
 *
 * @throws Error when it does not start
 */
export async function withPostgres<T>(body: (url: string) => Promise<T>): Promise<T> {
  const bin = programs();
  if (bin === undefined) throw new Error("PostgreSQL is not installed");
  return inTemporaryFolder(async (folder) => {
    const data = join(folder, "data");
    mkdirSync(data, { mode: 0o700 });
    const prefix = asUser(folder, data);
    const auth = ["-U", "bench", "-A", "trust"];
    await initialised([...prefix, join(bin, "initdb"), "-D", data, ...auth, "--no-sync"]);
    const port = freePort();
    const server = Bun.spawn([...prefix, join(bin, "postgres"), "-D", data, ...settings(port)], {
      ...{ cwd: folder, env: cleanEnvironment(), stdin: "ignore", stdout: "ignore", stderr: "ignore" },
      detached: true,
    });
    noteGroup(server.pid);
    try {
      const url = `postgres://bench@127.0.0.1:${port}/postgres`;
      await answering(url);
      return await body(url);
    } finally {
      // A fast shutdown: its children end before it.
      server.kill("SIGINT");
      await server.exited;
      killGroup(server.pid);
    }
  });
}

function asUser(...folders: string[]): string[] {
  const owner = isRoot() ? user() : undefined;
  if (owner === undefined) return [];
  for (const folder of folders) chownSync(folder, owner.uid, owner.gid);
  return ["setpriv", `--reuid=${owner.uid}`, `--regid=${owner.gid}`, "--clear-groups", "--"];
}

function settings(port: number): string[] {
  const values = {
    ...{ listen_addresses: "127.0.0.1", unix_socket_directories: "", port, fsync: "off" },
    max_connections: maxConnections,
  };
  return Object.entries(values).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

async function initialised(command: string[]): Promise<void> {
  const child = Bun.spawn(command, {
    env: cleanEnvironment(),
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const [said, status] = await Promise.all([child.stderr.text(), child.exited]);
  if (status !== 0) throw new Error(`initdb ended with status ${status}: ${said.slice(-600)}`);
}

async function answering(url: string): Promise<void> {
  const sql = new Bun.SQL(url, { max: 1, connectionTimeout: 1 });
  try {
    for (const until = performance.now() + startTimeoutMs; ; await Bun.sleep(50)) {
      try {
        await sql`SELECT 1`;
        return;
      } catch (error) {
        if (performance.now() > until)
          throw new Error("PostgreSQL did not answer within 30 s", { cause: error });
      }
    }
  } finally {
    await sql.close();
  }
}

function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}
