import type { CustomSeriesOption, LineSeriesOption } from "echarts";
import { axisText, type ChartGiven, colourOf, drawn, labelOf } from "./chart-style.ts";
import type { Summary } from "./statistics.ts";
import type { SubjectSummary } from "./summaries.ts";

const height = 460;

/** A line for each system and way over the sizes measured, with the least and the greatest of each median. */
export function drawLines({ title, metric, summaries, order }: ChartGiven): Promise<string> {
  const axis = axisOf(summaries);
  const rank = ({ system }: SubjectSummary) => order.indexOf(system);
  const sorted = withSingle(summaries).sort((a, b) => rank(a) - rank(b));
  const lines = [...Map.groupBy(sorted, labelOf)].map(
    ([name, own]) => [name + failuresOf(own), own] as const,
  );
  const isLogarithmic = isWide(summaries.flatMap(({ metrics }) => metrics[metric]?.median ?? []));
  return drawn(
    {
      title: {
        text: isLogarithmic ? `${title}, logarithmic` : title,
        ...{ left: 12, top: 8, textStyle: { fontSize: 15 } },
      },
      legend: { type: "plain", orient: "vertical", right: 8, top: 44, data: lines.map(([name]) => name) },
      grid: { left: 64, right: 240, top: 52, bottom: 48 },
      xAxis: {
        ...{ type: "category", data: axis.sizes.map(axisText), nameLocation: "middle", nameGap: 28 },
        name: axis.name,
      },
      yAxis: { type: isLogarithmic ? "log" : "value", axisLabel: { formatter: axisText } },
      series: lines.flatMap(([name, own]) => {
        const color = colourOf(own[0]!.system, order);
        const values = axis.sizes.map(
          (size) => own.find((each) => axis.sizeOf(each) === size)?.metrics[metric],
        );
        return [lineOf(name, own[0]!, { color, values }), whiskers(values, color)];
      }),
    },
    Math.max(height, 80 + lines.length * 26),
  );
}

interface Axis {
  readonly name: string;
  readonly sizes: readonly number[];
  sizeOf(summary: SubjectSummary): number;
}

/** Over concurrencies; over numbers of jobs where the concurrency is always the same. */
function axisOf(summaries: readonly SubjectSummary[]): Axis {
  const isByJobs = new Set(summaries.map(({ concurrency }) => concurrency)).size === 1;
  const sizeOf = ({ jobs, concurrency }: SubjectSummary) => (isByJobs ? jobs : concurrency);
  const sizes = [...new Set(summaries.map(sizeOf))].sort((a, b) => a - b);
  return { name: isByJobs ? "jobs" : "concurrency", sizes, sizeOf };
}

/** Whether the small ones would vanish beside the great ones. */
function isWide(values: readonly number[]): boolean {
  return Math.min(...values) > 0 && Math.max(...values) > 30 * Math.min(...values);
}

function lineOf(
  name: string,
  { system, variant }: SubjectSummary,
  { color, values }: { color: string; values: readonly (Summary | undefined)[] },
): LineSeriesOption {
  return {
    ...{ type: "line", name, color, symbol: "circle", symbolSize: 6, connectNulls: true },
    lineStyle: {
      width: system.startsWith("solid-jobs") ? 3 : 1.8,
      type: variant === "slots" ? "dashed" : "solid",
    },
    data: values.map((value) => value?.median ?? null),
  };
}

function failuresOf(summaries: readonly SubjectSummary[]): string {
  const failed = summaries.reduce((sum, each) => sum + each.failed, 0);
  return failed === 0 ? "" : `: ${failed} FAILED`;
}

/** A concurrency of 1 is one worker with one slot: the line over slots begins there too. */
function withSingle(summaries: readonly SubjectSummary[]): SubjectSummary[] {
  const slots = new Set(summaries.filter(({ variant }) => variant === "slots").map(({ system }) => system));
  const singles = summaries.filter(
    ({ system, variant, concurrency }) => concurrency === 1 && variant === "workers" && slots.has(system),
  );
  return [...summaries, ...singles.map((each) => ({ ...each, variant: "slots" }))];
}

function whiskers(values: readonly (Summary | undefined)[], color: string): CustomSeriesOption {
  return {
    ...{ type: "custom", silent: true, z: 1 },
    data: values.flatMap((value, place) => (value === undefined ? [] : [[place, value.min, value.max]])),
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
