// The bench's figures as pictures for docs/benchmarks.md, drawn by ECharts without a browser.
import * as echarts from 'echarts';
import type { Growth } from './growth.ts';
import type { Compared } from './peers.ts';

/** Readable on white and on black, as the page may be either. */
const ink = '#7a828e';
const ours = '#2f81f7';
const others = '#a5adb8';

function draw(width: number, height: number, option: echarts.EChartsCoreOption): string {
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height });
  chart.setOption({
    animation: false,
    textStyle: { color: ink, fontFamily: 'sans-serif' },
    ...option,
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return `${svg}\n`;
}

/** Who takes how long for the same orders: a bar each, of the medians. */
export function peersPlot({ figures }: Compared): string {
  const bars = figures.toReversed();
  return draw(760, 60 + bars.length * 34, {
    grid: { left: 150, right: 60, top: 10, bottom: 40 },
    xAxis: {
      type: 'value',
      name: 'seconds',
      nameLocation: 'middle',
      nameGap: 26,
      axisLabel: { color: ink },
      splitLine: { lineStyle: { color: ink, opacity: 0.2 } },
    },
    yAxis: {
      type: 'category',
      data: bars.map(({ name }) => name),
      axisLabel: { color: ink },
      axisTick: { show: false },
    },
    series: [
      {
        type: 'bar',
        barWidth: 18,
        data: bars.map(({ name, seconds }) => ({
          value: seconds.median,
          itemStyle: { color: name.startsWith('outlast') ? ours : others },
        })),
        label: { show: true, position: 'right', color: ink },
      },
    ],
  });
}

/** What an order costs in archives of different sizes: flat where it should be. */
export function growthPlot({ sizes }: Growth): string {
  const panels: [title: string, of: (one: Growth['sizes'][number]) => number][] = [
    ['µs an order', (one) => (one.seconds * 1e6) / one.orders],
    ['bytes an order, on disk', (one) => (one.tableBytes + one.indexBytes) / one.orders],
    ['peak memory, MB', (one) => one.peakMb],
    ['page of 50, median ms', (one) => one.pageMs.median],
  ];
  const places = panels.map((_, i) => ({
    left: i % 2 === 0 ? 60 : 430,
    top: i < 2 ? 40 : 240,
    width: 290,
    height: 120,
  }));
  const axis = { axisLabel: { color: ink }, axisLine: { lineStyle: { color: ink } } };
  return draw(760, 410, {
    title: panels.map(([text], i) => ({
      text,
      left: places[i]?.left,
      top: (places[i]?.top ?? 0) - 32,
      textStyle: { color: ink, fontSize: 13, fontWeight: 'normal' },
    })),
    grid: places,
    xAxis: panels.map((_, gridIndex) => ({
      type: 'category',
      gridIndex,
      data: sizes.map(({ orders }) => orders.toLocaleString('en-US')),
      ...axis,
    })),
    yAxis: panels.map((_, gridIndex) => ({
      type: 'value',
      gridIndex,
      min: 0,
      splitNumber: 3,
      splitLine: { lineStyle: { color: ink, opacity: 0.2 } },
      ...axis,
    })),
    series: panels.map(([, of], i) => ({
      type: 'line',
      xAxisIndex: i,
      yAxisIndex: i,
      symbolSize: 7,
      lineStyle: { color: ours },
      itemStyle: { color: ours },
      data: sizes.map((one) => Number(of(one).toPrecision(4))),
      label: { show: true, color: ink },
    })),
  });
}
