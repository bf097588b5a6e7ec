import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { ConfigurationError } from "../foundation/errors.ts";

/**
 * The top-level keys and values of a TOML or JSON file, told apart by its extension.
 * @throws ConfigurationError when it cannot be read, is not valid, or is no table of keys
 */
export function readConfigFile(path: string): Readonly<Record<string, unknown>> {
  const format = formatOf(path);
  const content = parse(readText(path), path, format);
  if (typeof content !== "object" || content === null || Array.isArray(content)) {
    throw new ConfigurationError(`config file ${path}: expected an object of settings at the top`);
  }
  return content as Record<string, unknown>;
}

type Format = "TOML" | "JSON";

function formatOf(path: string): Format {
  const extension = extname(path).toLowerCase();
  if (extension === ".toml") return "TOML";
  if (extension === ".json") return "JSON";
  throw new ConfigurationError(`config file ${path}: expected a name that ends in .toml or .json`);
}

function readText(path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    throw new ConfigurationError(`config file ${path} cannot be read: ${readProblem(error)}`, {
      cause: error,
    });
  }
}

function readProblem(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EISDIR") return "it is a directory";
  if (code === "EACCES") return "permission denied";
  return error instanceof TypeError ? "it is not UTF-8 text" : message;
}

/** Loaded when there is such a file: each of a node's threads would pay 2 MiB for it. */
function parseToml(text: string): unknown {
  const { parse } = require("@iarna/toml") as typeof import("@iarna/toml");
  return parse(text);
}

function parse(text: string, path: string, format: Format): unknown {
  try {
    return format === "TOML" ? parseToml(text) : JSON.parse(text);
  } catch (error) {
    const firstLine = String((error as Error).message).split("\n", 1)[0]!;
    const problem = firstLine.replace(/^JSON Parse error: /, "").replace(/,? pos \d+:?$/, "");
    throw new ConfigurationError(`config file ${path} is not valid ${format}: ${problem}`, { cause: error });
  }
}
