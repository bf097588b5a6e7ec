import type { Bench } from "../method/bench.ts";
import type { Options } from "../method/options.ts";
import type { RunRecord } from "../method/record.ts";
import type { RedisPlace } from "../method/redis-place.ts";
import { lineOfRun } from "../report/run-line.ts";
import type { System } from "../systems/system.ts";
import type { Progress } from "./progress.ts";

const usualRepetitions = 6;
const quickRepetitions = 2;

/** Collects what the parts of one benchmark measure. */
export class BenchRun implements Bench {
  readonly options: Options;
  readonly isQuick: boolean;
  readonly repetitions: number;
  readonly systems: readonly System[];
  readonly redis: RedisPlace;
  readonly runs: RunRecord[] = [];
  readonly notes: string[] = [];
  private readonly progress: Progress;

  constructor(given: {
    options: Options;
    /** Whether all parts are measured, not one. */
    isWhole: boolean;
    systems: readonly System[];
    redis: RedisPlace;
    progress: Progress;
  }) {
    const { options, isWhole, systems, redis, progress } = given;
    this.options = options;
    this.isQuick = isWhole && !options.isFull;
    this.repetitions = options.repetitions ?? (this.isQuick ? quickRepetitions : usualRepetitions);
    this.systems = systems;
    this.redis = redis;
    this.progress = progress;
  }

  expect(runs: number): void {
    this.progress.expect(runs);
  }

  record(run: RunRecord): void {
    this.runs.push(run);
    this.progress.line(`  ${lineOfRun(run)}`);
    this.progress.tick();
  }

  note(line: string): void {
    this.notes.push(line);
    this.progress.line(`  ${line}`);
  }
}
