import { join } from "node:path";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary-folder.ts";
import type { Order } from "./victim.ts";

/** The program that dies, compiled once: it starts some hundred times, in a third of the time. */
export class Victim implements Disposable {
  private readonly folder: TemporaryFolder;
  private readonly program: string;

  private constructor(folder: TemporaryFolder, program: string) {
    this.folder = folder;
    this.program = program;
  }

  static async compile(): Promise<Victim> {
    const folder = temporaryFolder();
    const { outputs } = await Bun.build({
      entrypoints: [join(import.meta.dir, "victim.ts")],
      target: "bun",
      format: "cjs",
      bytecode: true,
      outdir: folder.path,
    });
    const program = outputs.find(({ kind }) => kind === "entry-point");
    if (program === undefined) throw new Error("the bundler made no program");
    return new Victim(folder, program.path);
  }

  /** Resolves when the process has ended, by its own hand or by an error, which it prints. */
  async run(order: Order): Promise<void> {
    const child = Bun.spawn([process.execPath, this.program, JSON.stringify(order)], {
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit",
    });
    await child.exited;
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]();
  }
}
