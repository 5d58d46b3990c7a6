// What .ci/fuzz.sh asks: a simulated platform, `outlast start` beside it, and the document of its interface with real ids as examples.
// Usage: node fuzz-serve.mjs <scratch folder>. Writes openapi.json there, prints the address, and stays until SIGTERM.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createSimulator } from '../dist/src/simulator/server.js';

const scratch = process.argv[2] ?? '.';
const simulator = await createSimulator({
  world: { ordersPerDay: 30, classesPerDay: 8, quietShare: 0.2, transactionsPerDay: 4, tokens: 3 },
});
const [project] = simulator.projects;
const service = spawn(
  process.execPath,
  [fileURLToPath(new URL('../dist/src/main.js', import.meta.url)), 'start'],
  {
    stdio: ['ignore', 'inherit', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: scratch,
      OUTLAST_BASE_URL: simulator.url,
      OUTLAST_API_KEY: project.apiKey,
      OUTLAST_API_SECRET: project.apiSecret,
      OUTLAST_DATA_DIR: join(scratch, 'home'),
      OUTLAST_PORT: '0',
      OUTLAST_MAX_RPS: '500',
      OUTLAST_SCHEDULE: '*/2 * * * * *',
    },
  },
);
process.once('SIGTERM', () => service.kill());
service.once('exit', (code) => {
  void simulator.close().finally(() => process.exit(code ?? 1));
});

/** The address stands in the log's line that it runs; complaints are passed on. */
const url = await new Promise((resolve) => {
  createInterface({ input: service.stderr }).on('line', (line) => {
    const entry = line.startsWith('{') ? JSON.parse(line) : {};
    if (entry.url !== undefined) resolve(entry.url);
    if (entry.level !== 'info') process.stderr.write(`${line}\n`);
  });
});

const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
const operations = simulator.oracle.operationIds(day);
const ask = async (path) => {
  const answer = await fetch(url + path);
  return answer.ok ? answer.json() : null;
};
const within = async (seconds, what, find) => {
  for (let i = 0; i < seconds * 4; i++) {
    const found = await find();
    if (found !== null && found !== undefined) return found;
    await sleep(250);
  }
  throw new Error(`the archive holds no ${what} after ${seconds} s`);
};
const first = (list) => async () => (await ask(`/archive/v1/${list}?limit=1`))?.items[0];
const order = await within(60, 'order', first('orders'));
const nftClass = await within(60, 'class', first('nft_classes'));
const token = await within(60, 'token', async () => (await ask('/archive/v1/tokens'))?.items[0]);
await fetch(`${url}/archive/v1/watch`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ operation_ids: operations, created_on: day }),
});
await within(60, 'result', () => ask(`/archive/v1/transactions/${operations[0]}`));

const ids = { orders: order.operation_id, nft_classes: nftClass.id, tokens: token.symbol };
const document = await ask('/openapi.json');
for (const [path, { get, post }] of Object.entries(document.paths)) {
  const resource = Object.keys(ids).find((name) => path.includes(`/${name}/`));
  for (const parameter of (get ?? post).parameters) {
    // Any other name is answered 403, and nothing behind it is asked.
    if (parameter.name === 'project') parameter.schema = { type: 'string', enum: ['default'] };
    if (parameter.in === 'path') {
      parameter.example = resource === undefined ? operations[0] : ids[resource];
    }
  }
}
writeFileSync(join(scratch, 'openapi.json'), JSON.stringify(document));
process.stdout.write(`${url}\n`);
