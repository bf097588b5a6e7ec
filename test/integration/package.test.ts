import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { Consumer, compiler, contents, Packing } from "../support/consumer.ts";
import { filesOf } from "../support/imports.ts";
import { RedisServer } from "../support/redis-server.ts";
import { until } from "../support/until.ts";

let packing: Packing;
let tarball: string;
let consumer: Consumer;

beforeAll(async () => {
  packing = new Packing();
  tarball = await packing.pack(process.execPath, "pm", "pack");
  consumer = await Consumer.create(tarball);
});
afterAll(async () => {
  await consumer?.remove();
  packing?.remove();
});

describe("the tarball", () => {
  test("holds the sources, scripts, command, declarations and documents, and nothing else", async () => {
    const files = await contents(tarball);
    const generated = files.filter((file) => file.startsWith("types/"));
    expect(files.filter((file) => !generated.includes(file))).toEqual(
      [
        ...filesOf("src/**/*"),
        ...filesOf("lua/**/*"),
        ...filesOf("docs/**/*"),
        "bin/solid-jobs.ts",
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "package.json",
      ].sort(),
    );
    expect(generated).toEqual(expect.arrayContaining(["types/src/index.d.ts", "types/src/lab/index.d.ts"]));
    expect(generated.filter((file) => !file.endsWith(".d.ts"))).toEqual([]);
  });

  test("is the same when npm packs it", async () => {
    expect(await contents(await packing.pack("npm", "pack"))).toEqual(await contents(tarball));
  });
});

describe("a program that installs the tarball", () => {
  beforeAll(async () => {
    const { exitCode, text } = await consumer.run(
      process.execPath,
      "add",
      `./solid-jobs-${packageJson.version}.tgz`,
    );
    if (exitCode !== 0) throw new Error(`bun add failed:\n${text}`);
    await consumer.addBunTypes();
  });

  test("runs the command through bunx", async () => {
    const { exitCode, text } = await consumer.run(process.execPath, "x", "solid-jobs", "--version");
    expect({ exitCode, text: text.trim() }).toEqual({ exitCode: 0, text: packageJson.version });
  });

  test("runs the command through npx", async () => {
    const { exitCode, text } = await consumer.run("npx", "--no-install", "solid-jobs", "--version");
    expect({ exitCode, text: text.trim() }).toEqual({ exitCode: 0, text: packageJson.version });
  });

  test("imports the library and the lab under Bun", async () => {
    const source = `
      import { Task } from "solid-jobs";
      import { lab } from "solid-jobs/lab";
      class Add extends Task { executeTask(a: number) { return a + 1; } }
      console.log(typeof Task, typeof lab.testing, typeof Add.enqueue);`;
    await consumer.write("imports.ts", source);
    const { text } = await consumer.run(process.execPath, "imports.ts");
    expect(text.trim()).toBe("function function function");
  });

  test("publishes a job that the installed command runs", async () => {
    const server = await RedisServer.start();
    try {
      const jobs = `
        import { Task } from "solid-jobs";
        export class Mark extends Task {
          async executeTask(name: string) { await Bun.write(name, this.taskId); }
        }`;
      await consumer.write("jobs.ts", jobs);
      const publish = `
        import { close } from "solid-jobs";
        import { Mark } from "./jobs.ts";
        console.log(await Mark.enqueue("mark.txt"));
        await close();`;
      await consumer.write("publish.ts", publish);
      const env = { SOLID_JOBS_URL: server.url };
      const id = (await consumer.runWith(env, process.execPath, "publish.ts")).text.trim();
      const command = join(consumer.folder, "node_modules", ".bin", "solid-jobs");
      await using node = Bun.spawn([process.execPath, command, "-r", "./jobs.ts", "-c", "1"], {
        cwd: consumer.folder,
        env: { ...process.env, ...env },
        stdout: "ignore",
        stderr: "inherit",
      });
      const mark = () => Bun.file(join(consumer.folder, "mark.txt"));
      await until(async () => (await mark().exists()) && (await mark().text()) !== "");
      expect(await mark().text()).toBe(id);
      node.kill("SIGTERM");
      expect(await node.exited).toBe(0);
    } finally {
      await server.stop();
    }
  });

  test.each([`import("solid-jobs")`, `import("solid-jobs/lab")`, `require("solid-jobs")`])(
    "gets told by Node to use Bun on %s",
    async (expression) => {
      const { exitCode, text } = await consumer.run("node", "-e", expression);
      expect(exitCode).toBe(1);
      expect(text).toContain("solid-jobs needs Bun 1.4 or later, but was loaded by Node v");
      expect(text).toContain("npm install --save-dev bun");
    },
  );
});

/** What `bun init` writes. */
const bunInit = {
  lib: ["ESNext"],
  target: "ESNext",
  module: "Preserve",
  moduleDetection: "force",
  jsx: "react-jsx",
  allowJs: true,
  types: ["bun"],
  moduleResolution: "bundler",
  allowImportingTsExtensions: true,
  verbatimModuleSyntax: true,
  noEmit: true,
  strict: true,
  skipLibCheck: true,
  noFallthroughCasesInSwitch: true,
  noUncheckedIndexedAccess: true,
  noImplicitOverride: true,
};

const nodeNext = {
  target: "ES2023",
  module: "nodenext",
  moduleResolution: "nodenext",
  types: ["bun"],
  strict: true,
  outDir: "out",
};

const strictest = {
  ...bunInit,
  noEmit: false,
  allowImportingTsExtensions: false,
  declaration: true,
  emitDeclarationOnly: true,
  outDir: "out",
  isolatedDeclarations: true,
  erasableSyntaxOnly: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitReturns: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  noUncheckedSideEffectImports: true,
  allowUnreachableCode: false,
  allowUnusedLabels: false,
  allowJs: false,
  skipLibCheck: false,
};

/** A project that shares code with a browser and has no types of Bun. */
const browser = { ...nodeNext, lib: ["ESNext", "DOM"], types: [], noEmit: true };

/** The usual things a program does, and what the compiler must refuse. */
const program = `
import { Catalog, Conductor, type Envelope, integrityCheck, type RetryDecision, Task, type TaskOptions } from "solid-jobs";
import { lab } from "solid-jobs/lab";

export class Recalculate extends Task {
  static options: TaskOptions = { channel: "critical", maxFailures: 10 };
  async executeTask(account: number, note?: string): Promise<string> {
    this.signal.throwIfAborted();
    return \`\${account} \${note ?? ""} \${this.taskId}\`;
  }
  static retryDelay(failureCount: number, error: Error, envelope: Envelope): RetryDecision {
    return error.message === envelope.task ? "drop" : failureCount;
  }
  static afterFinalFailure(envelope: Envelope, error: Error): void {
    console.error(envelope.id, error.message);
  }
}

export async function publish(): Promise<string | undefined> {
  await Recalculate.enqueueMany([[1], [2, "two"]]);
  await Recalculate.enqueueAfter(30, 42);
  await Recalculate.scheduleAt(new Date(), 42);
  await Recalculate.withOptions({ channel: "low" }).enqueue(42);
  // @ts-expect-error the argument is a number
  await Recalculate.enqueue("42");
  // @ts-expect-error there is no such option
  Recalculate.withOptions({ chanel: "low" });
  return Recalculate.enqueue(42, "note");
}

export async function operate(): Promise<boolean> {
  const conductor = new Conductor({ require: ["./jobs.ts"], concurrency: 2 });
  await conductor.start();
  await conductor.stop();
  const catalog = new Catalog();
  const { processed } = await catalog.counters();
  await catalog.close();
  const { lost, isSound } = await integrityCheck({ expectedIds: ["a"] });
  return isSound && processed > lost.length;
}

export async function inTest(): Promise<void> {
  await lab.testing("capture", async () => {
    await publish();
  });
}
`;

describe("a program that compiles against the tarball", () => {
  const kinds = Object.entries({
    "bun init's": bunInit,
    nodenext: nodeNext,
    "the strictest": strictest,
    "a browser project's": browser,
  });
  const compilers = ["typescript", "typescript-5.9"];
  test.each(kinds.flatMap(([kind, options]) => compilers.map((name) => [kind, name, options] as const)))(
    "passes under %s flags with %s",
    async (_kind, name, compilerOptions) => {
      await consumer.write("program.ts", program);
      await consumer.write("tsconfig.json", JSON.stringify({ compilerOptions, files: ["program.ts"] }));
      const { exitCode, text } = await consumer.run(process.execPath, compiler(name), "-p", "tsconfig.json");
      expect({ exitCode, text }).toEqual({ exitCode: 0, text: "" });
    },
  );
});
