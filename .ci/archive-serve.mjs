// What .ci/dbt.sh and .ci/bi.sh read: an archive of a simulated platform in an embedded Postgres, owned by a login as
// docs/operations.md has it made. Usage: node archive-serve.mjs <scratch folder>. Prints the archive's address, and
// stays until SIGTERM.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { silentLog } from '../dist/src/log.js';
import { createSimulator } from '../dist/src/simulator/simulator-server.js';
import { openEmbedded } from '../dist/src/store/embedded/embedded.js';

const [, , scratch = '.'] = process.argv;
const fileHere = (path) => fileURLToPath(new URL(path, import.meta.url));

const server = await openEmbedded({ dataDir: join(scratch, 'home'), log: silentLog() });
const operations = readFileSync(fileHere('../docs/operations.md'), 'utf8');
const [, roles] = /```sql\n(create role outlast .*?)```/s.exec(operations);
const admin = new pg.Client({ connectionString: server.connectionString });
await admin.connect();
// The embedded server's own superuser and database are called outlast: the page's login gets another name here.
for (const line of roles.trim().split('\n')) {
  await admin.query(
    line.startsWith('create database')
      ? 'alter database outlast owner to operator'
      : line.replace(/\boutlast\b/, 'operator'),
  );
}
await admin.end();
const address = new URL(server.connectionString);
address.username = 'operator';
address.password = 'choose-one';

const simulator = await createSimulator({ world: { ordersPerDay: 20, classesPerDay: 5 } });
const [{ apiKey, apiSecret }] = simulator.projects;
await promisify(execFile)(process.execPath, [fileHere('../dist/src/main.js'), 'sync'], {
  env: {
    PATH: process.env.PATH,
    OUTLAST_ENV_FILE: '/dev/null',
    OUTLAST_CERTIFICATES_DIR: join(scratch, 'certificates'),
    OUTLAST_BASE_URL: simulator.url,
    OUTLAST_API_KEY: apiKey,
    OUTLAST_API_SECRET: apiSecret,
    OUTLAST_MAX_RPS: '500',
    DATABASE_URL: address.href,
  },
});
await simulator.close();
// Neither the Postgres, a process of its own, nor a listener for a signal keeps Node from ending.
setInterval(() => {}, 60_000);
process.once('SIGTERM', () => void server.close().finally(() => process.exit()));
process.stdout.write(`${address.href}\n`);
