// `npm run bench`: how fast an archive fills, as rows a second and as a ratio to bare COPY of the same rows into the
// same table in the same run. `-- --memory`: whether memory grows with the archive. `-- --reading`: pages, reports and
// exports of ten million orders. `-- --peers`: beside what others would use. What it means: docs/performance.md.
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { printJson } from '../src/cli/print.ts';
import { stopOnSignals } from '../src/cli/signals.ts';
import { measureFilling, printFilling } from './filling.ts';
import { measurePeers, printPeers } from './peers.ts';
import { measureReading, printReading } from './reading.ts';

const { values: flags } = parseArgs({
  options: {
    orders: { type: 'string' },
    classes: { type: 'string', default: '100000' },
    runs: { type: 'string', default: '3' },
    memory: { type: 'boolean', default: false },
    reading: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

const orders = Number(flags.orders ?? (flags.reading ? 10_000_000 : 200_000));
const runs = Number(flags.runs);

const cpu = cpus()[0]?.model ?? 'unknown';
const machine = {
  cpu,
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 2 ** 30),
  node: process.version,
};

function printAll<T>(result: T, postgres: string | undefined, print: (result: T) => void): void {
  if (flags.json) {
    printJson({ machine: { ...machine, postgres }, ...result });
    return;
  }
  print(result);
  const { cores, memoryGb, node } = machine;
  process.stdout.write(
    `${cores} × ${cpu}, ${memoryGb} GB, Node ${node}, Postgres ${postgres ?? 'unknown'}\n`,
  );
}

const stop = stopOnSignals();
if (flags.reading) {
  const reading = await measureReading(orders, runs, stop.signal);
  printAll(reading, reading.postgres, printReading);
} else if (flags.peers) {
  const compared = await measurePeers(Number(flags.orders ?? 50_000), runs, stop.signal);
  printAll(compared, compared.postgres, printPeers);
} else {
  const filled = await measureFilling(
    flags.memory
      ? [10_000, 100_000, 1_000_000].map((size) => ({ orders: size, classes: 0, withCopy: false }))
      : Array.from({ length: runs }, () => ({
          orders,
          classes: Number(flags.classes),
          withCopy: true,
        })),
    stop.signal,
  );
  printAll(filled, filled.runs[0]?.postgres, printFilling);
}
stop.close();
