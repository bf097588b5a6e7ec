import { growth } from "../growth/part.ts";
import { merchants } from "../scenarios/merchants/part.ts";
import { cpu } from "./cpu.ts";
import { embedded } from "./embedded.ts";
import { file } from "./file.ts";
import { grid } from "./grid.ts";
import { http } from "./http.ts";
import { idle } from "./idle.ts";
import { io } from "./io.ts";
import { latency } from "./latency.ts";
import { lateness } from "./lateness.ts";
import { memory } from "./memory.ts";
import type { Part } from "./part.ts";
import { postgres } from "./postgres.ts";
import { publish } from "./publish.ts";
import { sizes } from "./sizes.ts";
import { stability } from "./stability.ts";
import { start } from "./start.ts";
import { stress } from "./stress.ts";
import { throughput } from "./throughput.ts";

/** All parts, in the order in which they run and are reported. */
export const parts: readonly Part[] = [
  ...[throughput, sizes, grid, cpu, io, http, postgres, file, stress],
  ...[publish, latency, lateness, memory, start, idle, embedded, stability],
  ...[merchants, growth],
];
