import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { NodeShape, System } from "../systems/system.ts";
import { type MarksLayout, marksEnvironment } from "./marks.ts";

const startTimeoutMs = 30_000;
const stopTimeoutMs = 15_000;
const mebibyte = 1024 * 1024;

/** What a node's process used in its whole life. */
export interface Used {
  readonly cpuSeconds: number;
  readonly peakRssMiB: number;
}

/** A fresh process with a node of a system. */
export class NodeProcess {
  private readonly process: Bun.Subprocess<"ignore", "pipe", "inherit">;
  private readonly started = Promise.withResolvers<void>();

  constructor(
    system: System,
    options: { url: string; shape: NodeShape; folder: string; layout: MarksLayout },
  ) {
    const { url, shape, folder, layout } = options;
    this.process = Bun.spawn([process.execPath, ...system.nodeArguments(url, shape)], {
      cwd: folder,
      env: { PATH: process.env["PATH"], NODE_ENV: "production", ...marksEnvironment(folder, layout) },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    void this.listen(system.name);
  }

  /** Resolves when it has said that it works. @throws Error when it ends before, or is silent for 30 s */
  async start(): Promise<this> {
    const late = setTimeout(
      () => this.started.reject(new Error("a node did not start within 30 s")),
      startTimeoutMs,
    );
    try {
      await this.started.promise;
      return this;
    } finally {
      clearTimeout(late);
    }
  }

  /** Resident memory now, in MiB. */
  get rssMiB(): number {
    const { pid } = this.process;
    if (process.platform === "linux") {
      const pages = Number(readFileSync(join("/proc", String(pid), "statm"), "utf8").split(" ")[1]);
      return (pages * pageBytes) / mebibyte;
    }
    return Number(Bun.spawnSync(["ps", "-o", "rss=", "-p", String(pid)]).stdout.toString()) / 1024;
  }

  get hasEnded(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  /** Ends it in an orderly way. @throws Error when it does not end with status 0 in time */
  async stop(): Promise<Used> {
    this.process.kill("SIGTERM");
    const late = setTimeout(() => this.process.kill("SIGKILL"), stopTimeoutMs);
    const status = await this.process.exited;
    clearTimeout(late);
    if (status !== 0) throw new Error(`a node ended with status ${status} at the end of a run`);
    const usage = this.process.resourceUsage();
    if (usage === undefined) throw new Error("the system did not tell what a node used");
    return { cpuSeconds: Number(usage.cpuTime.total) / 1e6, peakRssMiB: usage.maxRSS / mebibyte };
  }

  /** At once, if it still runs. */
  async kill(): Promise<void> {
    if (this.hasEnded) return;
    this.process.kill("SIGKILL");
    await this.process.exited;
  }

  private async listen(name: string): Promise<void> {
    const decoder = new TextDecoder();
    let said = "";
    for await (const bytes of this.process.stdout) {
      said = (said + decoder.decode(bytes, { stream: true })).slice(-4096);
      if (said.includes("node started")) this.started.resolve();
    }
    this.started.reject(new Error(`the node of ${name} ended before it started; it said: ${said}`));
  }
}

const pageBytes = pageSize();

function pageSize(): number {
  return Number(Bun.spawnSync(["getconf", "PAGESIZE"]).stdout.toString()) || 4096;
}
