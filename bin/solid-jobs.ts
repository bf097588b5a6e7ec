#!/usr/bin/env bun
import { start } from "../src/cli/start.ts";

process.exit(await start(process.argv.slice(2)));
