import { join } from "node:path";
import { NodeProcess } from "../../support/node-process.ts";
import type { Random } from "../random.ts";

/** How a seat's node is started; faults change it for the next start. */
export interface SeatSetup {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What the node runs under, such as `["prlimit", "--data=400000000"]`; it must become the node. */
  readonly wrapper: readonly string[];
  /** The command line's program; default: this copy's. */
  readonly program?: string;
  /** How far its clock goes ahead, in ms. */
  readonly clockErrorMs?: number;
}

/** One process of a seat. */
export interface FleetNode {
  /** Also its name in the ledger. */
  readonly name: string;
  readonly seat: Seat;
  readonly process: NodeProcess;
  readonly startedAt: number;
}

/** A process that ended, and whether a fault had ended it or asked it to. */
export interface FleetExit {
  readonly node: string;
  readonly at: number;
  /** -1: by a signal. */
  readonly code: number;
  readonly wasExpected: boolean;
}

export interface FleetOptions {
  readonly cwd: string;
  readonly module: string;
  readonly url: string;
  readonly ledgerFolder: string;
  readonly onStart: (node: FleetNode, clockErrorMs: number) => void;
}

const ownProgram = join(import.meta.dir, "..", "..", "..", "bin", "solid-jobs.ts");
const restartMs = 100;

/** One place for a node: the process there now, and, as a supervisor does, the next one when it ends. */
export class Seat {
  readonly number: number;
  setup: SeatSetup;
  node: FleetNode | undefined;
  starts = 0;
  /** Nobody follows a node that ends here. */
  isClosed = false;

  constructor(number: number, setup: SeatSetup) {
    this.number = number;
    this.setup = setup;
  }
}

/** The nodes of a run, and their supervisor. */
export class Fleet {
  readonly seats: Seat[];
  readonly exits: FleetExit[] = [];
  /** Every process there ever was. */
  readonly nodes: FleetNode[] = [];
  private readonly options: FleetOptions;
  private readonly expected = new Set<string>();
  private isStopping = false;

  constructor(options: FleetOptions, setups: readonly SeatSetup[]) {
    this.options = options;
    this.seats = setups.map((setup, number) => new Seat(number, setup));
  }

  /** Resolves when all have started. */
  async start(): Promise<void> {
    await Promise.all(this.seats.map((seat) => this.launch(seat).process.started()));
  }

  /** One more seat, like the first one but for the change. Resolves when its node has started. */
  async add(change: Partial<SeatSetup>): Promise<FleetNode> {
    const [first] = this.seats;
    if (first === undefined) throw new Error("a fleet has a seat at least");
    const seat = new Seat(this.seats.length, { ...first.setup, wrapper: [], ...change });
    this.seats.push(seat);
    const node = this.launch(seat);
    await node.process.started();
    return node;
  }

  /** The processes that live, as far as the supervisor knows. */
  get living(): FleetNode[] {
    return this.seats.flatMap(({ node }) => (node === undefined || node.process.hasExited ? [] : [node]));
  }

  /** An end of it that comes now is no surprise. */
  expectEnd(node: FleetNode): void {
    this.expected.add(node.name);
  }

  /** SIGKILL; the supervisor starts the seat's next one. */
  async kill(node: FleetNode): Promise<void> {
    this.expectEnd(node);
    await node.process.kill();
  }

  /** SIGTERM, and the next one with another setup. Resolves to that when it has started. */
  async restartAs(node: FleetNode, change: Partial<SeatSetup>): Promise<FleetNode> {
    node.seat.setup = { ...node.seat.setup, ...change };
    this.expectEnd(node);
    await node.process.stop();
    return this.nextOf(node);
  }

  /** The one that took the place of a node that ended. Waits until it has started. */
  async nextOf(node: FleetNode): Promise<FleetNode> {
    const endsAt = performance.now() + 30_000;
    while (node.seat.node === node || node.seat.node === undefined || !hasStarted(node.seat.node)) {
      if (performance.now() > endsAt) throw new Error(`no node followed ${node.name}\n${this.dump()}`);
      await Bun.sleep(10);
    }
    return node.seat.node;
  }

  /** SIGTERM to all. @returns the exit statuses of those that had started; others may die of it at once */
  async stop(): Promise<number[]> {
    this.isStopping = true;
    const living = this.living;
    for (const node of living) this.expectEnd(node);
    const started = living.filter(hasStarted);
    const codes = await Promise.all(living.map((node) => node.process.stop()));
    return codes.filter((_, index) => started.includes(living[index] as FleetNode));
  }

  /** At once, whatever they do. */
  async end(): Promise<void> {
    this.isStopping = true;
    for (const { process } of this.nodes) {
      if (process.hasExited) continue;
      process.signal("SIGCONT");
      await process.kill();
    }
  }

  /** A process of this version beside the fleet, which must not start. */
  startOlder(): NodeProcess {
    const { cwd, module, url, ledgerFolder } = this.options;
    const env = { FAULTS_LEDGER: ledgerFolder, FAULTS_NODE: "older", NODE_ENV: "development" };
    return new NodeProcess({ args: ["-r", module, "--url", url], cwd, env });
  }

  dump(): string {
    return this.nodes
      .map(({ name, process }) => `--- node ${name} (pid ${process.pid})\n${process.dump()}`)
      .join("\n");
  }

  private launch(seat: Seat): FleetNode {
    seat.starts += 1;
    const name = `n${seat.number}.${seat.starts}`;
    const { wrapper, args, env, program = ownProgram, clockErrorMs = 0 } = seat.setup;
    const { cwd, module, url, ledgerFolder, onStart } = this.options;
    const [executable = process.execPath, ...rest] = [...wrapper, process.execPath, program];
    const node: FleetNode = {
      name,
      seat,
      startedAt: Date.now(),
      process: new NodeProcess({
        executable,
        args: [...rest, "-r", module, "--url", url, ...args],
        cwd,
        env: { ...env, FAULTS_LEDGER: ledgerFolder, FAULTS_NODE: name },
      }),
    };
    seat.node = node;
    this.nodes.push(node);
    onStart(node, clockErrorMs);
    void node.process.exited.then((code) => this.bury(node, code));
    return node;
  }

  private async bury(node: FleetNode, code: number): Promise<void> {
    const wasExpected = this.expected.has(node.name);
    this.exits.push({ node: node.name, at: Date.now(), code, wasExpected });
    await Bun.sleep(restartMs);
    if (!this.isStopping && !node.seat.isClosed) this.launch(node.seat);
  }
}

/** Ready to take jobs. */
export function hasStarted(node: FleetNode): boolean {
  return node.process.log.some(({ message }) => message === "node started");
}

/** What a run's nodes are like. */
export function seatSetups(random: Random): SeatSetup[] {
  return Array.from({ length: random.int(2, 3) }, () => ({
    args: [
      "-c",
      String(random.int(1, 2)),
      "-s",
      String(random.pick([1, 1, 4, 10])),
      "-t",
      "1",
      "--channel",
      "default",
    ],
    env: {
      SOLID_JOBS_TTL: "1",
      SOLID_JOBS_RETRY_BASE: "0.1",
      SOLID_JOBS_RETRY_CAP: "0.5",
      // A suspect that is alone when its node is killed from outside would be poison: poison has runs of its own.
      SOLID_JOBS_MAX_CRASHES: "100",
      NODE_ENV: "development",
    },
    wrapper: [],
  }));
}
