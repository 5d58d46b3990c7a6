// A command that uses the embedded Postgres, for tests to start, ask and kill. It speaks lines of JSON:
//   argument  {"dataDir", "uid"?, "gid"?, "programs"?, "elsewhere"?}
//   first line out: what openEmbedded gave, or {"error": {"code", "kind", "message" with its causes}}
//   "query <sql>" in: the first row out · "close" in: what close() gave, then it ends
import { createInterface } from 'node:readline';
import pg from 'pg';
import { causeChain } from '../../dist/src/errors.js';
import { silentLog } from '../../dist/src/log.js';
import { openEmbedded } from '../../dist/src/store/embedded/embedded.js';

const { uid, gid, ...options } = JSON.parse(process.argv[2]);
if (uid !== undefined) {
  // After the imports: another user may not reach the folder this project lies in.
  process.setgroups([]);
  process.setgid(gid);
  process.setuid(uid);
  process.chdir('/');
}
const say = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);

let embedded;
// Ctrl-C: as a real command would, finish what is being done and leave cleanly; while it opens it goes on.
process.once('SIGINT', () => {
  if (embedded !== undefined) void finish("select pg_sleep(0.3)::text || 'finished' as work");
});
try {
  embedded = await openEmbedded({ ...options, log: silentLog() });
} catch (error) {
  const { code, kind } = error;
  say({ error: { code, kind, message: causeChain(error) } });
  process.exit(1);
}
// Functions are left out of JSON.
say(embedded);

for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'close') break;
  say(await query(line.slice('query '.length)));
}
await finish();

async function query(sql) {
  const client = new pg.Client({ connectionString: embedded.connectionString });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows[0] ?? null;
  } finally {
    await client.end();
  }
}

async function finish(sql) {
  const last = sql === undefined ? null : await query(sql);
  say({ ...(await embedded.close()), ...last });
  process.exit(0);
}
