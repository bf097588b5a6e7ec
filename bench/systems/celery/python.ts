/** A Python that has Celery. */
export interface Python {
  readonly path: string;
  readonly versions: Readonly<
    Partial<Record<"python" | "celery" | "redis-py" | "gevent" | "psycopg2", string>>
  >;
}

// Debian's packages are seen by Debian's Python only, whatever stands first on PATH.
const candidates = ["python3", "/usr/bin/python3"];

const question = `
import importlib, json, platform
found = {"python": platform.python_version()}
for name in ("celery", "redis", "gevent", "psycopg2"):
    try:
        found["redis-py" if name == "redis" else name] = importlib.import_module(name).__version__.split()[0]
    except ImportError:
        pass
print(json.dumps(found))
`;

let known: { readonly python: Python | undefined } | undefined;

/** The first of this machine's that can import Celery and its Redis client; undefined when none can. */
export function python(): Python | undefined {
  known ??= { python: search() };
  return known.python;
}

function search(): Python | undefined {
  for (const candidate of candidates) {
    const path = Bun.which(candidate);
    if (path === null) continue;
    const { exitCode, stdout } = Bun.spawnSync([path, "-c", question], { stderr: "ignore" });
    if (exitCode !== 0) continue;
    const versions = JSON.parse(stdout.toString()) as Python["versions"];
    if (versions.celery !== undefined && versions["redis-py"] !== undefined) return { path, versions };
  }
  return undefined;
}
