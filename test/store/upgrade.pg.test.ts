// An archive of each release (releases/*.sql.gz, as pg_dump wrote it) is brought to this one: what it holds stays as it
// was, and it goes on. A migration that was edited after its release is refused there.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { knownMigrations, migrate } from '../../src/store/migrate.ts';
import { openDb } from '../../src/store/db.ts';
import { createBench } from '../support/archive.ts';
import {
  certifiedWorld,
  createUncertified,
  marchIsOver,
  type Certified,
} from '../support/certified.ts';
import { queryAt } from '../support/client.ts';
import { succeedHere } from '../support/command-here.ts';
import { createEmptyDatabase } from '../support/postgres.ts';

const folder = new URL('releases/', import.meta.url);
const ending = '.sql.gz';
const releases = readdirSync(folder).filter((name) => name.endsWith(ending));

const fewDays = ['2026-03-05', '2026-03-06', '2026-04-02', '2026-04-03'];

/** In May: histories, an order that is missing, and March with its certificate. */
async function createArchive(): Promise<Certified> {
  const archive = await createUncertified(undefined, { days: fewDays });
  const { rows } = await archive.db.query<{ id: string }>(
    `select operation_id as id from archive.orders where slice_day >= '2026-04-01' order by 1 limit 2`,
  );
  const [changed = '', hidden = ''] = rows.map(({ id }) => id);
  archive.simulator.mutate('orders', changed, (one) => ({ ...one, message: 'changed later' }));
  archive.simulator.hide('orders', hidden);
  await archive.runLater(86_400_000);
  await archive.runLater(marchIsOver - archive.simulator.clock.now());
  return archive;
}

const everything = async (connectionString: string): Promise<unknown> => {
  const [found] = await queryAt(
    connectionString,
    `select (select jsonb_agg(to_jsonb(o) order by operation_id) from archive.orders o)                  as orders,
            (select jsonb_agg(to_jsonb(v) order by operation_id, raw_sha256) from archive.order_versions v) as versions,
            (select jsonb_agg(to_jsonb(c) order by id) from archive.nft_classes c)                       as classes,
            (select jsonb_agg(certificate order by month, resource) from sync.certificates)             as certificates`,
  );
  return found;
};

// How a release's dump is made: docs/contributing.md.
const { RELEASE_DUMP: version } = process.env;
if (version !== undefined) {
  test('an archive of this release is dumped', async () => {
    const archive = await createArchive();
    const args = ['--inserts', '--rows-per-insert=1000', '--no-owner', '--no-privileges'];
    const sql = execFileSync('pg_dump', [...args, archive.connectionString], {
      encoding: 'utf8',
      maxBuffer: 1e8,
    });
    // Commands of psql.
    const statements = sql.replaceAll(/^\\.*\n/gm, '');
    writeFileSync(new URL(`${version}${ending}`, folder), gzipSync(statements, { level: 9 }));
    await archive.close();
  });
}

test.each(releases)('an archive of %s stays as it was and goes on', async (name) => {
  const database = await createEmptyDatabase();
  const { connectionString } = database;
  await queryAt(connectionString, gunzipSync(readFileSync(new URL(name, folder))).toString());
  const before = await everything(connectionString);

  const { to } = await migrate(connectionString, silentLog());
  expect(to).toBe(knownMigrations().length);
  expect(await everything(connectionString)).toEqual(before);
  await succeedHere(['verify', '--project', 'p'], { env: { DATABASE_URL: connectionString } });

  const bench = await createBench(
    { world: certifiedWorld, startAt: marchIsOver + 2 * 86_400_000 },
    {},
    async () => {
      const db = await openDb({ connectionString, log: silentLog(), max: 2 });
      return { connectionString, db, leave: () => db.close() };
    },
  );
  expect(await bench.seal()).toMatchObject({ outcome: 'done' });
  const shown = [...bench.simulator.oracle.shown('orders')]
    .filter(({ text }) => text.includes('"create_time":"2026-05-0'))
    .map(({ id }) => id);
  expect(shown.length).toBeGreaterThan(0);
  const { rows } = await bench.db.query<{ id: string }>(
    `select operation_id as id from archive.orders where slice_day >= '2026-05-01'`,
  );
  expect(rows.map(({ id }) => id).toSorted()).toEqual(shown.toSorted());
  await bench.close();
  await database.drop();
});
