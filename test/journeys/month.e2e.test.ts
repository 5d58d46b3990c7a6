// A month lived through with the commands and a clock that is moved: it ends with a certificate that verifies. The same
// month with the service off in the wrong weeks ends with exactly the lost days named, everywhere they are to be named.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { daysIn } from '../../src/day.ts';
import { silentLog } from '../../src/log.ts';
import type { Day } from '../../src/model.ts';
import type { Simulator } from '../../src/simulator/simulator-server.ts';
import { openDb, type Row } from '../../src/store/db.ts';
import { startCommand, type Ended } from '../support/command.ts';
import { runHere, succeedHere } from '../support/command-here.ts';
import { orderOf } from '../support/days.ts';
import { readOnly } from '../support/few-days.ts';
import { freshFolder } from '../support/fresh.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { practise } from '../support/practise.ts';
import { startReceiver } from '../support/receiver.ts';

let folder: string;
let database: TestDatabase;
let simulator: Simulator;
let env: () => Record<string, string>;

const begin = Date.parse('2026-03-01T12:00:00Z');

beforeEach(async () => {
  folder = await freshFolder();
  const world = { ordersPerDay: 6, classesPerDay: 2, since: '2026-02-27' };
  ({ simulator, database, env } = await practise({ startAt: begin, world }));
  // Of February, with which a first sync begins, its last days are enough.
  await readBesides('2026-02-01', '2026-02-27', '2026-02-28');
});

/** Of the window as it is now, these days are read, and all of March. */
const readBesides = (...days: Day[]): Promise<void> => {
  const march = daysIn({ from: '2026-03-01', to: '2026-04-01' });
  return readOnly(database.connectionString, simulator, [...march, ...days], 'shop');
};

const settings = (): Record<string, string> => ({
  ...env(),
  OUTLAST_PROJECT: 'shop',
  OUTLAST_LOG_LEVEL: 'error',
  OUTLAST_CERTIFICATES_DIR: join(folder, 'certificates'),
});

const outlast = (...args: string[]): Promise<Ended> => runHere(args, { env: settings() });
const succeeds = (...args: string[]): Promise<Ended> => succeedHere(args, { env: settings() });

/** The platform's clock is set, and this machine's; then everything due is done. */
async function syncAt(day: string, time = '12:00:00'): Promise<void> {
  simulator.setNow(Date.parse(`${day}T${time}Z`));
  await succeeds('sync', '--json');
}

async function rowsOf(sql: string): Promise<Row[]> {
  const db = await openDb({
    connectionString: database.connectionString,
    role: 'outlast_reader',
    log: silentLog(),
  });
  try {
    return (await db.query(sql)).rows;
  } finally {
    await db.close();
  }
}

type Certificate = {
  lost_days: string[];
  days_not_settled: string[];
  books: object[];
  records: number;
  days: { day: string }[];
};

const certificate = async (resource: string): Promise<Certificate> =>
  JSON.parse(
    await readFile(
      join(folder, 'certificates', 'shop', `${resource}-2026-03.certificate.json`),
      'utf8',
    ),
  ) as Certificate;

type Status = {
  projects: {
    lists: { resource: string; months: { month: string; final: number; lost: number }[] }[];
  }[];
};

/** How many days of March are final and lost, as `status` says it. */
async function march(): Promise<Record<string, { final: number; lost: number }>> {
  const { stdout } = await outlast('status', '--json');
  const [project] = (JSON.parse(stdout) as Status).projects;
  return Object.fromEntries(
    (project?.lists ?? []).map(({ resource, months }) => {
      const { final = -1, lost = -1 } = months.find((one) => one.month.startsWith('2026-03')) ?? {};
      return [resource, { final, lost }];
    }),
  );
}

const dayOfMarch = (day: number): string => `2026-03-${String(day).padStart(2, '0')}`;

test('a month kept up with: final without a lost day, certified, verified by rows and against the platform', async () => {
  // Now and then: whatever passes in between is found.
  for (const day of [1, 16]) await syncAt(dayOfMarch(day));
  await syncAt('2026-04-01');
  simulator.setNow(Date.parse('2026-04-28T12:00:00Z'));
  await readBesides('2026-04-01', '2026-04-27', '2026-04-28');
  await syncAt('2026-04-28');
  await succeeds('verify', '--platform');
  await syncAt('2026-05-01', '12:30:00');

  expect(await march()).toEqual({
    orders: { final: 31, lost: 0 },
    nft_classes: { final: 31, lost: 0 },
  });
  // The only reservation left: orders the platform itself never settled.
  const pending = await rowsOf(
    `select distinct slice_day as day from archive.orders where slice_day < '2026-04-01' and status = 1 order by 1`,
  );
  const reserved = await rowsOf(
    `select day, reservations from analytics.coverage
      where day >= '2026-03-01' and day < '2026-04-01' and reservations <> '{}' order by day`,
  );
  expect(reserved).toEqual(
    pending
      .filter(({ day }) => String(day) >= '2026-03-01')
      .map(({ day }) => ({ day, reservations: ['unresolved_orders'] })),
  );
  const said = await certificate('orders');
  const { lost_days: lost, days_not_settled: named, days, records } = said;
  expect(said.books).toMatchObject([{ from: '2026-03-01', balance: 'equal' }]);
  expect(lost).toEqual([]);
  expect(named).toEqual(reserved.map(({ day }) => day));
  expect(days).toHaveLength(31);
  const [held] = await rowsOf(
    `select count(*)::int as held from archive.orders where slice_day between '2026-03-01' and '2026-03-31'`,
  );
  expect(records).toBe(held?.['held']);
  await succeeds('verify', '--month', '2026-03');
});

test('a month that is held goes without a word: every sync ends with 0, and nobody is told of anything', async () => {
  const receiver = await startReceiver();
  // One of its orders never settles.
  simulator.insert('orders', orderOf('2026-02-27', 1, { operation_id: 'never', status: 1 }));
  for (const [day, time] of [
    ['2026-03-29', '12:00:00'],
    ['2026-03-29', '15:00:00'],
    ['2026-03-30', '16:00:00'],
    ['2026-03-31', '03:00:00'],
  ] as const) {
    simulator.setNow(Date.parse(`${day}T${time}Z`));
    if (time === '12:00:00') await readBesides('2026-02-27', '2026-02-28');
    await syncAt(day, time);
  }
  const env = {
    OUTLAST_LOG_LEVEL: 'warn',
    OUTLAST_HEARTBEAT_URL: `${receiver.url}/beat`,
    OUTLAST_ALERT_WEBHOOK: `${receiver.url}/alert`,
  };
  const ends = Date.parse('2026-04-01T18:00:00Z');
  let syncs = 0;
  for (let at = Date.parse('2026-03-31T09:00:00Z'); at <= ends; at += 3 * 3_600_000) {
    simulator.setNow(at);
    const { code, stderr } = await startCommand(['sync', '--json'], {
      env: { ...settings(), ...env },
    }).ended;
    const warnings = stderr.split('\n').filter((line) => line.startsWith('{'));
    expect({ at: new Date(at).toISOString(), code, warnings }).toMatchObject({
      code: 0,
      warnings: [],
    });
    syncs++;
  }
  expect(receiver.requests.map(({ path }) => path)).toEqual(Array(syncs).fill('/beat'));
  const { code, stdout } = await outlast('status', '--check');
  expect([code, stdout]).toEqual([0, expect.stringContaining('nothing is at risk')]);
  expect(
    await rowsOf(
      `select day, state, is_held, is_settled from analytics.coverage
        where resource = 'orders' and day between '2026-02-27' and '2026-02-28' order by day`,
    ),
  ).toEqual([
    { day: '2026-02-27', state: 'final', is_held: true, is_settled: false },
    { day: '2026-02-28', state: 'final', is_held: true, is_settled: true },
  ]);
  await receiver.close();
});

test('P7: off in the wrong weeks: exactly the days nobody could read are lost, in status, certificate and views', async () => {
  for (const day of [1, 10]) await syncAt(dayOfMarch(day));
  // Off until the month has gone; the tenth had been read to noon.
  await syncAt('2026-05-05');
  const lost = Array.from({ length: 22 }, (_, i) => dayOfMarch(10 + i));

  expect(await march()).toEqual({
    orders: { final: 9, lost: 22 },
    nft_classes: { final: 9, lost: 22 },
  });
  expect((await certificate('orders')).lost_days).toEqual(lost);
  expect((await certificate('nft_classes')).lost_days).toEqual(lost);
  expect(
    await rowsOf(
      `select array_agg(day::text order by day) as days from analytics.coverage
        where resource = 'orders' and 'lost' = any (reservations)`,
    ),
  ).toEqual([{ days: lost }]);
  // What had been read of the tenth is kept.
  const [tenth] = await rowsOf(
    `select count(*)::int as held from archive.orders where slice_day = '2026-03-10'`,
  );
  expect(tenth?.['held']).toBeGreaterThan(0);
  // A lost day is no lie: what is held still follows from what the platform said.
  await succeeds('verify');
});
