#!/usr/bin/env bun
import { main } from "../src/cli/program.ts";

process.exit(await main(process.argv.slice(2)));
