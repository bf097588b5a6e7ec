import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type LocalRegistry, startLocalRegistry } from "./local-registry.ts";

const root = join(import.meta.dir, "..", "..");

export interface Output {
  readonly exitCode: number;
  /** Both streams. */
  readonly text: string;
}

/** Packs the library in a copy of the repository, so that packing leaves nothing behind in it. */
export class Packing {
  readonly folder = mkdtempSync(join(tmpdir(), "packing-"));

  constructor() {
    const parts = ["src", "lua", "bin", "docs", "package.json", "tsconfig.json"];
    for (const part of [...parts, "README.md", "CHANGELOG.md", "LICENSE"]) {
      // A missing one shows in the contents of the tarball.
      if (existsSync(join(root, part)))
        cpSync(join(root, part), join(this.folder, part), { recursive: true });
    }
    symlinkSync(join(root, "node_modules"), join(this.folder, "node_modules"));
  }

  /** Runs a pack command and returns the path of the tarball it wrote. */
  async pack(...command: string[]): Promise<string> {
    const destination = mkdtempSync(join(this.folder, "packed-"));
    const flag = command[0] === "npm" ? "--pack-destination" : "--destination";
    const { exitCode, text } = await runIn(this.folder, [...command, flag, destination]);
    if (exitCode !== 0) throw new Error(`${command.join(" ")} failed:\n${text}`);
    const [tarball] = [...new Bun.Glob("*.tgz").scanSync({ cwd: destination, absolute: true })];
    if (tarball === undefined) throw new Error(`${command.join(" ")} wrote no tarball:\n${text}`);
    return tarball;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The paths in a tarball, sorted, without the leading `package/`. */
export async function contents(tarball: string): Promise<string[]> {
  const files = await new Bun.Archive(await Bun.file(tarball).bytes()).files();
  return [...files.keys()].map((path) => path.replace("package/", "")).sort();
}

/** A clean folder with a package.json of its own, into which the tarball can be installed without a network. */
export class Consumer {
  readonly folder = mkdtempSync(join(tmpdir(), "consumer-"));
  private readonly registry: LocalRegistry;

  private constructor(registry: LocalRegistry) {
    this.registry = registry;
  }

  static async create(tarball: string): Promise<Consumer> {
    const consumer = new Consumer(await startLocalRegistry(["commander", "@iarna/toml"]));
    cpSync(tarball, join(consumer.folder, basename(tarball)));
    await consumer.write("package.json", JSON.stringify({ name: "consumer", private: true, type: "module" }));
    return consumer;
  }

  run(...command: string[]): Promise<Output> {
    return this.runWith({}, ...command);
  }

  runWith(env: Record<string, string>, ...command: string[]): Promise<Output> {
    return runIn(this.folder, command, {
      ...env,
      BUN_CONFIG_REGISTRY: this.registry.url,
      BUN_INSTALL_CACHE_DIR: join(this.folder, ".cache"),
      npm_config_registry: this.registry.url,
      npm_config_cache: join(this.folder, ".cache"),
    });
  }

  async write(name: string, text: string): Promise<void> {
    await Bun.write(join(this.folder, name), text);
  }

  /** Makes Bun's types available as `bun add -d @types/bun` does. */
  async addBunTypes(): Promise<void> {
    const modules = join(this.folder, "node_modules");
    mkdirSync(join(modules, "@types", "bun"), { recursive: true });
    for (const name of ["bun-types", "undici-types", "@types/node"]) {
      symlinkSync(join(root, "node_modules", name), join(modules, name));
    }
    await this.write(
      "node_modules/@types/bun/package.json",
      `{ "name": "@types/bun", "types": "index.d.ts" }`,
    );
    await this.write("node_modules/@types/bun/index.d.ts", `/// <reference types="bun-types" />\n`);
  }

  async remove(): Promise<void> {
    await this.registry.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The compiler of an installed TypeScript, `typescript` or an alias of another version. */
export function compiler(name: string): string {
  return join(root, "node_modules", name, "bin", "tsc");
}

async function runIn(cwd: string, command: string[], env: Record<string, string> = {}): Promise<Output> {
  const run = Bun.spawn(command, {
    cwd,
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, exitCode] = await Promise.all([run.stdout.text(), run.stderr.text(), run.exited]);
  return { exitCode, text: stdout + stderr };
}
