import type { CustomSeriesOption } from "echarts";
import { axisText, type ChartGiven, colourOf, drawn } from "./chart-style.ts";
import { metrics } from "./metrics.ts";
import { valueText } from "./numbers.ts";

const barHeight = 26;

/** A bar for each system and shape, the best one on top, with the least and the greatest of its median. */
export async function drawBars({ title, metric, summaries, order }: ChartGiven): Promise<string> {
  const sign = metrics[metric].better === "more" ? 1 : -1;
  // The axis of a category begins at the bottom.
  const bars = summaries
    .map((each) => ({ ...each, value: each.metrics[metric] ?? { median: 0, min: 0, max: 0 } }))
    .sort((a, b) => sign * (a.value.median - b.value.median));
  return drawn(
    {
      title: { text: title, left: 12, top: 8, textStyle: { fontSize: 15 } },
      grid: { left: 270, right: 90, top: 44, bottom: 36 },
      xAxis: { type: "value", axisLabel: { formatter: axisText }, splitLine: { show: true } },
      yAxis: { type: "category", data: bars.map(({ system, shape }) => `${system}, ${shape}`) },
      series: [
        {
          type: "bar",
          data: bars.map(({ system, value }) => ({
            value: value.median,
            itemStyle: { color: colourOf(system, order) },
          })),
          barWidth: barHeight * 0.6,
        },
        whiskers(
          bars.map(({ value }, place) => [value.min, place, value.max]),
          bars.map(({ value, succeeded, failed }) => {
            if (succeeded === 0) return "FAILED";
            return `${valueText(metric, value.median)}${failed === 0 ? "" : `, ${failed} FAILED`}`;
          }),
        ),
      ],
    },
    90 + bars.length * barHeight,
  );
}

/** From the least to the greatest, and behind that the median as a number. */
function whiskers(bounds: readonly number[][], texts: readonly string[]): CustomSeriesOption {
  return {
    ...{ type: "custom", silent: true, z: 5 },
    data: bounds,
    encode: { x: [0, 2], y: 1 },
    renderItem({ dataIndex }, api) {
      const [low, y] = api.coord([api.value(0), api.value(1)]) as [number, number];
      const [high] = api.coord([api.value(2), api.value(1)]) as [number, number];
      const line = (x1: number, y1: number, x2: number, y2: number) => ({
        ...{ type: "line" as const, shape: { x1, y1, x2, y2 }, style: { stroke: "#222", lineWidth: 1 } },
      });
      return {
        type: "group",
        children: [
          ...[line(low, y, high, y), line(low, y - 4, low, y + 4), line(high, y - 4, high, y + 4)],
          {
            type: "text",
            style: { x: high + 8, y: y - 6, text: texts[dataIndex] ?? "", fill: "#222", fontSize: 12 },
          },
        ],
      };
    },
  };
}
