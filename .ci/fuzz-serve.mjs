// What .ci/fuzz.sh asks: a simulated platform, and two `outlast start` over one archive of it: on loopback, where
// nobody needs a key, and bound beyond it, where everybody does. Usage: node fuzz-serve.mjs <scratch folder> <bearer
// key>. Writes open.json and keyed.json there, the documents of both with real ids as examples, prints both addresses,
// and stays until SIGTERM.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createSimulator } from '../dist/src/simulator/simulator-server.js';

const [, , scratch = '.', key = ''] = process.argv;
const simulator = await createSimulator({
  world: { ordersPerDay: 30, classesPerDay: 8, quietShare: 0.2, transactionsPerDay: 4, tokens: 3 },
});
const [project] = simulator.projects;
const readers = join(scratch, 'readers.json');
const digest = createHash('sha256').update(key).digest('hex');
writeFileSync(
  readers,
  JSON.stringify([{ id: 'fuzz', bearer_sha256: digest, projects: ['default'] }]),
  { mode: 0o600 },
);

const services = [];
process.once('SIGTERM', () => services.forEach((service) => service.kill()));
let failed = 0;
let left = 2;
function ended(code) {
  failed ||= code ?? 1;
  left -= 1;
  if (left === 0) void simulator.close().finally(() => process.exit(failed));
}

/** Starts one and resolves with its address, which stands in the log's line that it runs; complaints are passed on. */
function start(host, schedule) {
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
        OUTLAST_HOST: host,
        OUTLAST_PORT: '0',
        OUTLAST_READERS_FILE: readers,
        OUTLAST_MAX_RPS: '500',
        OUTLAST_SCHEDULE: schedule,
      },
    },
  );
  services.push(service);
  service.once('exit', ended);
  return new Promise((resolve) => {
    createInterface({ input: service.stderr }).on('line', (line) => {
      const entry = line.startsWith('{') ? JSON.parse(line) : {};
      if (entry.url !== undefined) resolve(entry.url.replace('0.0.0.0', '127.0.0.1'));
      if (entry.level !== 'info' && entry.level !== 'warn') process.stderr.write(`${line}\n`);
    });
  });
}
const open = await start('127.0.0.1', '*/2 * * * * *');
const keyed = await start('0.0.0.0', '0 0 1 1 *');

const ask = async (path) => {
  const answer = await fetch(open + path);
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
const first = (list) => async () => (await ask(`/archive/v1/${list}`))?.items[0];
const order = await within(60, 'order', first('orders'));
const nftClass = await within(60, 'class', first('nft_classes'));
const token = await within(60, 'token', first('tokens'));
// Some days are quiet: the newest one before today that is not.
const days = Array.from({ length: 20 }, (_, i) =>
  new Date(Date.now() - (i + 1) * 86_400_000).toISOString().slice(0, 10),
);
const day = days.find((one) => simulator.oracle.operationIds(one).length > 0);
const operations = simulator.oracle.operationIds(day);
await fetch(`${open}/archive/v1/watch`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ operation_ids: operations, created_on: day }),
});
await within(60, 'result', () => ask(`/archive/v1/transactions/${operations[0]}`));

const ids = { orders: order.operation_id, nft_classes: nftClass.id, tokens: token.symbol };
for (const [name, url] of Object.entries({ open, keyed })) {
  const document = await (await fetch(`${url}/openapi.json`)).json();
  for (const [path, { get, post }] of Object.entries(document.paths)) {
    const resource = Object.keys(ids).find((one) => path.includes(`/${one}/`));
    for (const parameter of (get ?? post).parameters) {
      // Any other name is answered 403, and nothing behind it is asked.
      if (parameter.name === 'project') parameter.schema = { type: 'string', enum: ['default'] };
      if (parameter.in === 'path' && /^(id|name)$/.test(parameter.name)) {
        parameter.example = resource === undefined ? operations[0] : ids[resource];
      }
    }
  }
  writeFileSync(join(scratch, `${name}.json`), JSON.stringify(document));
}
process.stdout.write(`${open} ${keyed}\n`);
