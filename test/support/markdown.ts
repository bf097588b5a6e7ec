import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "..", "..");

/** What the docs consist of, relative to the root. */
export const documents: readonly string[] = [
  "README.md",
  "CHANGELOG.md",
  ...[...new Bun.Glob("docs/*.md").scanSync({ cwd: root })].sort(),
];

export function documentText(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

export interface CodeBlock {
  readonly language: string;
  readonly code: string;
}

/** The fenced blocks of a document, without their indentation. */
export function codeBlocks(text: string): CodeBlock[] {
  const fences = text.matchAll(/^([ ]*)```(\w*)\n([\s\S]*?)^\1```$/gm);
  return [...fences].map(([, indent = "", language = "", code = ""]) => ({
    language,
    code: code.replaceAll(RegExp(`^${indent}`, "gm"), ""),
  }));
}

export function withoutCodeBlocks(text: string): string {
  return text.replaceAll(/^([ ]*)```[\s\S]*?^\1```$/gm, "");
}

/** The targets of a document's links. */
export function links(text: string): string[] {
  return [...withoutCodeBlocks(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
}

/** The anchors that a forge gives to a document's headings. */
export function anchors(text: string): string[] {
  const headings = [...withoutCodeBlocks(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** The texts between single backticks. */
export function inlineCode(text: string): string[] {
  return [...withoutCodeBlocks(text).matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);
}

/** A section from its heading to the next one of its level or above. */
export function section(text: string, heading: string): string {
  const level = /^#+/.exec(heading)?.[0].length ?? 0;
  const start = text.indexOf(`${heading}\n`);
  if (start === -1) throw new Error(`there is no heading "${heading}"`);
  const rest = text.slice(start + heading.length);
  const end = rest.search(RegExp(`^#{1,${level}} `, "m"));
  return end === -1 ? rest : rest.slice(0, end);
}

/** The rows of the tables in a text, each with its cells, without the head. */
export function tableRows(text: string): string[][] {
  const lines = text.split("\n").filter((line) => line.startsWith("|"));
  const rows = lines.map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const rules = rows.flatMap((cells, index) => (cells.every((cell) => /^-+$/.test(cell)) ? [index] : []));
  return rows.filter((_, index) => !rules.includes(index) && !rules.includes(index + 1));
}
