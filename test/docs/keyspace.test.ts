import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { publicationField, wireNames } from "../../src/envelope/envelope.ts";
import { RedisKeys } from "../../src/store/redis/keys.ts";
import { filesOf } from "../support/imports.ts";
import { documentText, section, tableRows } from "../support/markdown.ts";

const root = join(import.meta.dir, "..", "..");
const keyspace = documentText("docs/keyspace.md");

/** The first cells of a section's table, without backticks. */
function names(heading: string): string[] {
  return tableRows(section(keyspace, heading)).flatMap(([cell = ""]) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
  );
}

async function scripts(): Promise<string> {
  const sources = await Promise.all(filesOf("lua/*.lua").map((file) => Bun.file(join(root, file)).text()));
  return sources.join("\n");
}

/** What the class builds, with placeholders where names go. */
function keysOfTheClass(): string[] {
  const keys = new RedisKeys("");
  const fixed = Object.values(keys).filter((value) => typeof value === "string" && value !== "");
  const identity = "<identity>";
  return [
    ...(fixed as string[]),
    keys.channel("<name>"),
    keys.node(identity),
    keys.nodeWork(identity),
    keys.nodeSignals(identity),
    keys.nodeClaims(identity),
    keys.nodeGenerations(identity),
    keys.claimed(identity, "<executor>", 0).replace(/0$/, "<slot>"),
    keys.crashes("<id>"),
    keys.publication("<id>"),
    keys.transfer("<journal>"),
    keys.transferNotes("<journal>"),
  ];
}

describe("docs/keyspace.md", () => {
  test("names every key that is built, and no other", () => {
    const onlyInScripts = ["copy:<nonce>"];
    expect(names("## Keys").toSorted()).toEqual([...keysOfTheClass(), ...onlyInScripts].toSorted());
  });

  test("names every key that the scripts put together", async () => {
    const documented = names("## Keys");
    const text = await scripts();
    const own = [...text.matchAll(/(?:prefix|ARGV\[2\]) \.\. '([a-z_:]+)'/g)].map(([, key = ""]) => key);
    const ofNodes = [...text.matchAll(/KEYS\[\d\] \.\. '(:[a-z]+)/g)].map(
      ([, end = ""]) => `node:<identity>${end}`,
    );
    expect(own).toContain("copy:");
    expect(ofNodes).toContain("node:<identity>:generations");
    const unknown = [...own, ...ofNodes].filter(
      (key) =>
        !documented.some(
          (name) => name === key || (name.startsWith(key) && /[:<]/.test(name.slice(key.length - 1))),
        ),
    );
    expect(unknown).toEqual([]);
  });

  test("names every field of an envelope", () => {
    const extra = ["-", "{}", "[]", "first_failed_ms", "last_failed_ms"];
    const fields = names("## The envelope");
    const expected = [...Object.values(wireNames), publicationField];
    expect(expected.filter((field) => !fields.includes(field))).toEqual([]);
    expect(fields.filter((field) => ![...expected, ...extra].includes(field))).toEqual([]);
  });

  test("names fields of nodes and claims that the code writes", async () => {
    const text = `${await scripts()}\n${await Bun.file(join(root, "src/store/node-info.ts")).text()}`;
    const records = section(keyspace, "## Claim and work records");
    const fields = [...records.matchAll(/`([a-z_]+)`/g)].map(([, field = ""]) => field);
    const ofNode = names("## A node's hash");
    const written = `${text}\n${await Bun.file(join(root, "src/store/redis/store.ts")).text()}`;
    const places = ["claims", "work", "arguments"]; // keys and what is left out
    const missing = [...fields, ...ofNode].filter(
      (field) => !places.includes(field) && !written.includes(field),
    );
    expect(ofNode).toContain("beating_since");
    expect(missing).toEqual([]);
  });
});
