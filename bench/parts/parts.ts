import { cpu } from "./cpu.ts";
import { grid } from "./grid.ts";
import { http } from "./http.ts";
import { io } from "./io.ts";
import type { Part } from "./part.ts";
import { sizes } from "./sizes.ts";
import { stress } from "./stress.ts";
import { throughput } from "./throughput.ts";

/** All parts, in the order in which they run and are reported. */
export const parts: readonly Part[] = [throughput, sizes, grid, cpu, io, http, stress];
