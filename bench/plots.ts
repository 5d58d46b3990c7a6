// The bench's figures as pictures for docs/benchmarks.md. Every bar and point bears its value, so no axis has ticks.
import type { Growth } from './growth.ts';
import type { Compared } from './peers.ts';

/** Readable on white and on black, as the page may be either. */
const ink = '#7a828e';
const ours = '#2f81f7';
const others = '#a5adb8';

const picture = (height: number, shapes: string[]): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 ${height}" width="760" height="${height}"`,
    ` font-family="sans-serif" font-size="12" fill="${ink}" text-anchor="middle">\n`,
    ...shapes.map((shape) => `  ${shape}\n`),
    '</svg>\n',
  ].join('');

const words = (x: number, y: number, said: string, attributes = ''): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}"${attributes}>${said.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;

/** Who takes how long for the same orders: a bar each, of the medians in seconds. */
export function peersPlot({ figures }: Compared): string {
  const longest = Math.max(...figures.map(({ seconds }) => seconds.median));
  const bars = figures.flatMap(({ name, seconds }, i) => {
    const width = (seconds.median / longest) * 520;
    const y = 10 + i * 34;
    const color = name.startsWith('outlast') ? ours : others;
    return [
      words(142, y + 13, name, ' text-anchor="end"'),
      `<rect x="150" y="${y}" width="${width.toFixed(1)}" height="18" fill="${color}"/>`,
      words(156 + width, y + 13, `${seconds.median} s`, ' text-anchor="start"'),
    ];
  });
  return picture(10 + figures.length * 34, bars);
}

/** What an order costs in archives of different sizes: flat where it should be. */
export function growthPlot({ sizes }: Growth): string {
  const panels: [title: string, of: (one: Growth['sizes'][number]) => number][] = [
    ['µs an order', (one) => (one.seconds * 1e6) / one.orders],
    ['bytes an order, on disk', (one) => (one.tableBytes + one.indexBytes) / one.orders],
    ['peak memory, MB', (one) => one.peakMb],
    ['page of 50, median ms', (one) => one.pageMs.median],
  ];
  const [width, height] = [330, 120];
  const panel = ([title, of]: (typeof panels)[number], i: number): string[] => {
    const left = i % 2 === 0 ? 20 : 410;
    const floor = (i < 2 ? 40 : 240) + height;
    const most = Math.max(...sizes.map(of));
    const points = sizes.map((one, at) => ({
      x: left + ((at + 0.5) / sizes.length) * width,
      y: floor - (of(one) / most) * height * 0.85,
      said: String(Number(of(one).toPrecision(4))),
      orders: one.orders.toLocaleString('en-US'),
    }));
    return [
      words(left, floor - height - 18, title, ' font-size="13" text-anchor="start"'),
      `<path d="M${left} ${floor}h${width}" stroke="${ink}"/>`,
      `<path d="M${points.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L')}" stroke="${ours}" stroke-width="2" fill="none"/>`,
      ...points.flatMap(({ x, y, said, orders }) => [
        `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="3.5" fill="${ours}"/>`,
        words(x, y - 9, said),
        words(x, floor + 16, orders),
      ]),
    ];
  };
  return picture(395, panels.flatMap(panel));
}
