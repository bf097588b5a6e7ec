/** A line of a panel: what is drawn over sizes. */
export interface Line {
  readonly label: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

/** Some lines with axes of their own; x is logarithmic, y begins at 0. */
export interface Panel {
  readonly title: string;
  readonly xLabel: string;
  readonly lines: readonly Line[];
}

const panelWidth = 340;
const panelHeight = 230;
const margin = { left: 54, right: 14, top: 30, bottom: 44 };
const perRow = 3;
const headHeight = 62;
const colours = ["#1f6feb", "#d1490c", "#2b8a3e", "#8a2be2"];
const plotWidth = panelWidth - margin.left - margin.right;
const plotHeight = panelHeight - margin.top - margin.bottom;

/** Panels side by side under one title, as SVG. Lines with one label have one colour in all of them. */
export function lineChart(title: string, panels: readonly Panel[]): string {
  const labels = [...new Set(panels.flatMap(({ lines }) => lines.map(({ label }) => label)))];
  const width = panelWidth * perRow + 20;
  const height = headHeight + panelHeight * Math.ceil(panels.length / perRow) + 10;
  const drawn = panels.map((panel, i) => {
    const [x, y] = [10 + (i % perRow) * panelWidth, headHeight + Math.floor(i / perRow) * panelHeight];
    return `<g transform="translate(${x} ${y})">${panelSvg(panel, labels)}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="11">`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    `<text x="16" y="24" font-size="16" font-weight="bold">${escaped(title)}</text>`,
    ...labels.map((label, i) => legend(label, i)),
    ...drawn,
    "</svg>\n",
  ].join("\n");
}

function legend(label: string, i: number): string {
  const x = 16 + i * 190;
  return `<rect x="${x}" y="38" width="18" height="4" fill="${colourOf(i)}"/><text x="${x + 24}" y="44">${escaped(label)}</text>`;
}

function panelSvg({ title, xLabel, lines }: Panel, labels: readonly string[]): string {
  const all = lines.flatMap(({ points }) => points);
  const ticks = roundTicks(Math.max(...all.map(({ y }) => y)));
  const top = ticks.at(-1)!;
  // A size of 0 stands where 1 does.
  const logs = all.map(({ x }) => Math.log10(Math.max(1, x)));
  const [least, span] = [Math.min(...logs), Math.max(...logs) - Math.min(...logs) || 1];
  const placeX = (x: number) => margin.left + ((Math.log10(Math.max(1, x)) - least) / span) * plotWidth;
  const placeY = (y: number) => margin.top + plotHeight * (1 - y / top);
  const sizes = [...new Set(all.map(({ x }) => x))].sort((a, b) => a - b);
  return [
    `<text x="${margin.left}" y="18" font-weight="bold">${escaped(title)}</text>`,
    ...ticks.map((tick) => gridLine(tick, placeY(tick))),
    ...shownSizes(sizes, placeX).map((x) => label(short(x), placeX(x), panelHeight - margin.bottom + 15)),
    label(xLabel, margin.left + plotWidth / 2, panelHeight - 12),
    ...lines.map((line) => lineSvg(line, colourOf(labels.indexOf(line.label)), placeX, placeY)),
  ].join("");
}

function lineSvg(
  { points }: Line,
  colour: string,
  placeX: (x: number) => number,
  placeY: (y: number) => number,
): string {
  const places = points.map(({ x, y }) => [placeX(x).toFixed(1), placeY(y).toFixed(1)] as const);
  const path = places.map(([x, y]) => `${x},${y}`).join(" ");
  const dots = places.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="2.8" fill="${colour}"/>`).join("");
  return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>${dots}`;
}

function gridLine(tick: number, y: number): string {
  const line = `<line x1="${margin.left}" x2="${panelWidth - margin.right}" y1="${y}" y2="${y}" stroke="#ddd"/>`;
  return `${line}<text x="${margin.left - 6}" y="${y + 4}" text-anchor="end" fill="#555">${short(tick)}</text>`;
}

function label(text: string, x: number, y: number): string {
  return `<text x="${x.toFixed(1)}" y="${y}" text-anchor="middle" fill="#555">${escaped(text)}</text>`;
}

/** Those that do not stand in each other's way. */
function shownSizes(sizes: readonly number[], placeX: (x: number) => number): number[] {
  const shown: number[] = [];
  for (const size of sizes) {
    const before = shown.at(-1);
    if (before === undefined || placeX(size) - placeX(before) > 26) shown.push(size);
  }
  return shown;
}

/** From 0 in steps of 1, 2 or 5 times a power of ten, the last one at or above the greatest value. */
function roundTicks(greatest: number): number[] {
  const rough = Math.max(greatest, 1e-9) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough) ?? rough;
  const count = Math.ceil(greatest / step);
  return Array.from({ length: Math.max(1, count) + 1 }, (_, i) => Number((i * step).toPrecision(6)));
}

function short(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (value >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(value);
}

function colourOf(i: number): string {
  return colours[i % colours.length]!;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
