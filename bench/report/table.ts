/** Rows of cells in columns of equal width, for a terminal; the first row is the head. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** The same in Markdown. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const [first = [], ...rest] = rows;
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
  return [line(first), line(first.map(() => "---")), ...rest.map(line)].join("\n");
}
