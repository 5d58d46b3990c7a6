// The drop-in server in a process of its own, as `outlast start` runs it beside its worker: started by http-pages.ts,
// ended by a signal. Prints its address.
import { collectInSmallSteps, collectSooner } from '../src/cli/garbage-collection.ts';

// Before much is loaded, as src/main.ts does it.
collectInSmallSteps();
const { serve } = await import('../src/http/server.ts');
const { createLog } = await import('../src/log.ts');
const { openArchive } = await import('../src/query/archive.ts');

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
