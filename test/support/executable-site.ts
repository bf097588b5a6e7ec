import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = join(import.meta.dir, "..", "..");

/** The tasks of the programs: what they do is seen in files that their argument names. */
export const tasks = `
  import { appendFileSync, existsSync } from "node:fs";
  import { Task } from "solid-jobs";

  const epochMs = () => performance.timeOrigin + performance.now();

  export class Mark extends Task {
    static options = { name: "mark" };
    executeTask(file: string) { appendFileSync(file, epochMs() + "\\n"); }
  }

  export class Hold extends Task {
    static options = { name: "hold", channel: "held" };
    async executeTask(file: string) {
      appendFileSync(file, "begun " + process.pid + "\\n");
      while (!existsSync(file + ".release")) await Bun.sleep(5);
      appendFileSync(file, "done " + process.pid + "\\n");
    }
  }
`;

/** \`./app publish <task> <file>\` publishes; anything else runs a node. */
export const main = `
  import { close, run } from "solid-jobs";
  import { Hold, Mark } from "./tasks.ts";

  const [command, task, file] = process.argv.slice(2);
  if (Bun.isMainThread && command === "publish") {
    await (task === "mark" ? Mark : Hold).enqueue(file!);
    await close();
  } else {
    await run({ tasks: [Mark, Hold] });
  }
`;

/**
 * Two folders: one with sources and an installed solid-jobs, where executables are built, and one that has
 * neither, where they are put and run.
 */
export class ExecutableSite {
  private readonly sources = mkdtempSync(join(tmpdir(), "sources-"));
  readonly folder = mkdtempSync(join(tmpdir(), "elsewhere-"));

  constructor() {
    mkdirSync(join(this.sources, "node_modules"));
    symlinkSync(root, join(this.sources, "node_modules", "solid-jobs"));
    this.source("tasks.ts", tasks);
  }

  /** Writes a source file and answers with its path. */
  source(name: string, text: string): string {
    return written(join(this.sources, name), text);
  }

  /** Writes a file where executables run. */
  write(name: string, text: string): string {
    return written(join(this.folder, name), text);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Compiles a program to an executable of that name. */
  async build(program: string, name: string, flags: readonly string[] = []): Promise<string> {
    const executable = this.path(name);
    const command = [process.execPath, "build", "--compile", ...flags, program, "--outfile", executable];
    await finished(
      Bun.spawn(command, { cwd: this.sources, stdin: "ignore", stdout: "pipe", stderr: "pipe" }),
    );
    return executable;
  }

  /** Runs a program to its end, without any setting of the test run's own. */
  async run(command: readonly string[], env: Record<string, string> = {}): Promise<Run> {
    const run = Bun.spawn([...command], {
      cwd: this.folder,
      env: { PATH: process.env["PATH"] ?? "", ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr, status] = await Promise.all([run.stdout.text(), run.stderr.text(), run.exited]);
    return { status, stdout, stderr };
  }

  remove(): void {
    for (const folder of [this.sources, this.folder]) rmSync(folder, { recursive: true, force: true });
  }
}

export interface Run {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

function written(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** @throws Error with everything it said when it fails */
async function finished(build: Bun.Subprocess<"ignore", "pipe", "pipe">): Promise<void> {
  const [stdout, stderr, status] = await Promise.all([
    build.stdout.text(),
    build.stderr.text(),
    build.exited,
  ]);
  if (status !== 0) throw new Error(`the build failed:\n${stdout}${stderr}`);
}
