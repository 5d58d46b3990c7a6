// The drop-in server in a process of its own, as `outlast start` runs it beside its worker: started by http-pages.ts,
// ended by a signal. Prints its address.
import { collectSooner } from '../src/cli/garbage-collection.ts';
import { serve } from '../src/http/server.ts';
import { createLog } from '../src/log.ts';
import { openArchive } from '../src/query/archive.ts';

const { BENCH_DATABASE = '', BENCH_PROJECT = '', BENCH_KEY = '', BENCH_SECRET = '' } = process.env;
collectSooner();
const log = createLog('error');
const archive = await openArchive({ connectionString: BENCH_DATABASE, log });
const served = await serve({
  archive,
  host: '127.0.0.1',
  port: 0,
  keys: [{ key: BENCH_KEY, secret: BENCH_SECRET, projects: [BENCH_PROJECT] }],
  projects: [{ id: BENCH_PROJECT, classesOf: BENCH_PROJECT }],
  log,
  now: Date.now,
});
process.stdout.write(`${served.url}\n`);
