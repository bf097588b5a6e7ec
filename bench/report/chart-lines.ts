import type { CustomSeriesOption, LineSeriesOption } from "echarts";
import { axisText, type ChartGiven, colourOf, drawn, labelOf } from "./chart-style.ts";
import type { SubjectSummary } from "./summaries.ts";

const height = 460;

/** A line for each system and way over the sizes measured, with the least and the greatest of each median. */
export async function drawLines({ title, metric, summaries, order }: ChartGiven): Promise<string> {
  const isBySize = new Set(summaries.map(({ concurrency }) => concurrency)).size === 1;
  const sizeOf = (each: SubjectSummary) => (isBySize ? each.jobs : each.concurrency);
  const sizes = [...new Set(summaries.map(sizeOf))].sort((a, b) => a - b);
  const rank = (each: SubjectSummary) => order.indexOf(each.system);
  const lines = [
    ...Map.groupBy(
      withSingle(summaries).sort((a, b) => rank(a) - rank(b)),
      labelOf,
    ),
  ];
  const series = lines.flatMap(([name, own]) => {
    const at = (size: number) => own.find((each) => sizeOf(each) === size)?.metrics[metric];
    const { system, variant } = own[0]!;
    const color = colourOf(system, order);
    const line: LineSeriesOption = {
      ...{ type: "line", name, color, symbol: "circle", symbolSize: 6, connectNulls: true },
      lineStyle: {
        width: system.startsWith("solid-jobs") ? 3 : 1.8,
        type: variant === "slots" ? "dashed" : "solid",
      },
      data: sizes.map((size) => at(size)?.median ?? null),
    };
    const bounds = sizes.flatMap((size, place) => {
      const found = at(size);
      return found === undefined ? [] : [[place, found.min, found.max]];
    });
    return [line, whiskers(bounds, color)];
  });
  const numbers = summaries
    .flatMap(({ metrics }) => metrics[metric]?.median ?? [])
    .filter((value) => value > 0);
  const isWide = Math.max(...numbers) > 30 * Math.min(...numbers);
  return drawn(
    {
      title: {
        text: isWide ? `${title}, logarithmic` : title,
        left: 12,
        top: 8,
        textStyle: { fontSize: 15 },
      },
      legend: { type: "plain", orient: "vertical", right: 8, top: 44, data: lines.map(([name]) => name) },
      grid: { left: 64, right: 240, top: 52, bottom: 48 },
      xAxis: {
        ...{ type: "category", data: sizes.map(axisText), nameLocation: "middle", nameGap: 28 },
        name: isBySize ? "jobs" : "concurrency",
      },
      yAxis: { type: isWide ? "log" : "value", axisLabel: { formatter: axisText } },
      series,
    },
    Math.max(height, 80 + lines.length * 26),
  );
}

/** A concurrency of 1 is one worker with one slot: the line over slots begins there too. */
function withSingle(summaries: readonly SubjectSummary[]): SubjectSummary[] {
  const slots = new Set(summaries.filter(({ variant }) => variant === "slots").map(({ system }) => system));
  const singles = summaries.filter(
    ({ system, variant, concurrency }) => concurrency === 1 && variant === "workers" && slots.has(system),
  );
  return [...summaries, ...singles.map((each) => ({ ...each, variant: "slots" }))];
}

function whiskers(bounds: readonly number[][], color: string): CustomSeriesOption {
  return {
    ...{ type: "custom", silent: true, z: 1 },
    data: bounds,
    renderItem(_, api) {
      const [x, low] = api.coord([api.value(0), api.value(1)]) as [number, number];
      const [, high] = api.coord([api.value(0), api.value(2)]) as [number, number];
      const line = (x1: number, y1: number, x2: number, y2: number) => ({
        ...{ type: "line" as const, shape: { x1, y1, x2, y2 }, style: { stroke: color, lineWidth: 1 } },
      });
      return {
        type: "group",
        children: [line(x, low, x, high), line(x - 4, low, x + 4, low), line(x - 4, high, x + 4, high)],
      };
    },
  };
}
