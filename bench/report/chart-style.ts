import type { EChartsOption } from "echarts";
import type { Metric } from "./metrics.ts";
import type { SubjectSummary } from "./summaries.ts";

/** What a chart is drawn from. */
export interface ChartGiven {
  readonly title: string;
  readonly metric: Metric;
  readonly summaries: readonly SubjectSummary[];
  /** Names of the systems in the order of the legend: each keeps its colour in all charts. */
  readonly order: readonly string[];
}

const chartWidth = 900;
const ours = { "solid-jobs": "#d6281e", "solid-jobs-embedded": "#f08c2e" };
const others = [
  ...["#1f5fa8", "#6aa5e0", "#2b8a3e", "#8dc891", "#7a3fa0", "#bd93d8", "#0b8a8f", "#a56a1d", "#d3b25a"],
  ...["#5d6d7e", "#9c2f6b", "#4d4d4d", "#999999", "#222222"],
];

/** Ours stand out; each of the others has a colour by its place. */
export function colourOf(system: string, order: readonly string[]): string {
  if (system in ours) return ours[system as keyof typeof ours];
  const place = order.filter((name) => !(name in ours)).indexOf(system);
  return others[Math.max(0, place) % others.length]!;
}

/** A system, and the way that it was run where it has several. */
export function labelOf({ system, variant }: SubjectSummary): string {
  return variant === "" ? system : `${system}, ${variant}`;
}

/** `12,345` and `12.3k` would both do; the second fits an axis. */
export function axisText(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (value >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(6)));
}

/** An SVG without a browser. */
export async function drawn(option: EChartsOption, height: number): Promise<string> {
  const { init } = await import("echarts");
  const chart = init(null, null, { renderer: "svg", ssr: true, width: chartWidth, height });
  try {
    chart.setOption({
      ...{ animation: false, backgroundColor: "#ffffff", textStyle: { fontFamily: "sans-serif" } },
      ...option,
    });
    return `${chart.renderToSVGString()}\n`;
  } finally {
    chart.dispose();
  }
}
