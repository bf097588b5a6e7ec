import { scripts } from "../../../src/store/redis/scripts.ts";
import type { Command } from "../../support/redis-proxy.ts";

const bySha = new Map(Object.values(scripts).map(({ name, modern }) => [modern.sha, name]));
const byText = new Map(Object.values(scripts).map(({ name, modern }) => [modern.text, name]));

/** What a command is called in reports: a script by its name, anything else by its verb. */
export function commandName([verb = "", text = ""]: Command): string {
  const name = verb.toUpperCase();
  if (name === "EVALSHA") return bySha.get(text) ?? "a script";
  if (name === "EVAL") return byText.get(text) ?? "a script";
  return name;
}
