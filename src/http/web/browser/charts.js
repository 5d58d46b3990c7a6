// @ts-check
// Draws the charts that the page describes: each <canvas data-chart> carries its own data. Periods of which not all is
// held are striped, those with lost days in red, and a table of the same figures stands below each for whoever sees no
// picture.

/**
 * What chart.tsx writes.
 *
 * @typedef {{
 *   type: 'bar';
 *   labels: string[];
 *   isHeld: boolean[];
 *   isLost: boolean[];
 *   incomplete: string;
 *   lost: string;
 *   stacked: boolean;
 *   sets: { label: string; data: number[]; colour: string }[];
 * }} Drawn
 */

/** @type {any} */
const Chart = /** @type {any} */ (globalThis).Chart;

const colourOf = (/** @type {string} */ name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Stripes behind periods of which not all is held. */
const stripes = {
  id: 'stripes',
  beforeDatasetsDraw(/** @type {any} */ chart) {
    const { ctx, chartArea, scales } = chart;
    const { isHeld = [], isLost = [] } = chart.config.options;
    if (isHeld.length === 0) return;
    const width = scales.x.width / isHeld.length;
    ctx.save();
    isHeld.forEach((/** @type {boolean} */ held, /** @type {number} */ i) => {
      if (held) return;
      const left = scales.x.getPixelForValue(i) - width / 2;
      ctx.save();
      ctx.strokeStyle = colourOf(isLost[i] ? 'bad' : 'read');
      ctx.globalAlpha = isLost[i] ? 1 : 0.6;
      ctx.beginPath();
      ctx.rect(left, chartArea.top, width, chartArea.bottom - chartArea.top);
      ctx.clip();
      ctx.beginPath();
      const height = chartArea.bottom - chartArea.top;
      for (let x = left - height; x < left + width; x += 8) {
        ctx.moveTo(x, chartArea.bottom);
        ctx.lineTo(x + height, chartArea.top);
      }
      ctx.stroke();
      ctx.restore();
    });
    ctx.restore();
  },
};

/** @type {any[]} */
let drawn = [];

function draw() {
  for (const chart of drawn) chart.destroy();
  drawn = [...document.querySelectorAll('canvas[data-chart]')].map((canvas) => {
    /** @type {Drawn} */
    const { type, labels, isHeld, isLost, incomplete, lost, stacked, sets } = JSON.parse(
      canvas.getAttribute('data-chart') ?? '',
    );
    const ink = colourOf('soft');
    const line = colourOf('line');
    return new Chart(canvas, {
      type,
      data: {
        labels,
        datasets: sets.map(({ label, data, colour }) => ({
          label,
          data,
          // What is not all held is paler, so that the stripes show through.
          backgroundColor: isHeld.map((held) => `${colourOf(colour)}${held ? '' : '80'}`),
          categoryPercentage: 0.92,
          barPercentage: 0.94,
        })),
      },
      options: {
        isHeld,
        isLost,
        locale: document.documentElement.lang,
        animation: false,
        maintainAspectRatio: false,
        scales: {
          x: { stacked, ticks: { color: ink, maxRotation: 0 }, grid: { display: false } },
          y: {
            stacked,
            beginAtZero: true,
            ticks: { color: ink, precision: 0 },
            grid: { color: line },
          },
        },
        // A bar is narrow: all of its column answers.
        interaction: { mode: 'index', intersect: false },
        plugins: {
          legend: {
            align: 'start',
            display: sets.length > 1,
            labels: {
              boxWidth: 12,
              // In the full colour, whatever the first period is.
              generateLabels: (/** @type {any} */ chart) =>
                sets.map(({ label, colour }, datasetIndex) => ({
                  text: label,
                  datasetIndex,
                  fillStyle: colourOf(colour),
                  lineWidth: 0,
                  fontColor: ink,
                  hidden: !chart.isDatasetVisible(datasetIndex),
                })),
            },
          },
          tooltip: {
            callbacks: {
              footer: (/** @type {{ dataIndex: number }[]} */ [item]) =>
                item === undefined || isHeld[item.dataIndex] !== false
                  ? ''
                  : isLost[item.dataIndex] === true
                    ? lost
                    : incomplete,
            },
          },
        },
      },
      plugins: [stripes],
    });
  });
}

draw();
document.querySelector('main')?.addEventListener('replaced', draw);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
