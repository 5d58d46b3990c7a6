// Lists that are much longer than usual: a day of more than 300,000 orders, and a million classes where a page has 50.
// Read whole into an empty archive, then once more with nothing changed.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { silentLog } from '../src/log.ts';
import { openEmbedded } from '../src/store/embedded/embedded.ts';
import { runCommand, simulate, simulatedDays } from './children.ts';
import type { Table } from './tables.ts';
import { load } from './timing.ts';

export type LongList = {
  what: string;
  records: number;
  days: number;
  requests: number;
  seconds: number;
  secondsAgain: number;
  peakMb: number;
  /** The state of its days, and by what they are proved. */
  surety: string;
  loadBefore: number;
};

type Wanted = {
  what: string;
  orders: number;
  classes: number;
  dialect: string[];
  only: string[];
  table: string;
};

const wanted = (share: number): Wanted[] => {
  const { from, whole } = simulatedDays;
  const classes = Math.round(1_000_000 * share);
  return [
    {
      what: 'a day of orders',
      orders: Math.round(300_000 * share) * whole,
      classes: 0,
      dialect: [],
      only: ['--resource', 'orders', '--from', '2026-08-26', '--to', '2026-08-26'],
      table: 'archive.orders',
    },
    {
      what: 'classes, 50 a page',
      orders: 0,
      classes,
      dialect: ['maxClasses=50'],
      only: ['--resource', 'nft_classes', '--from', from, '--to', '2026-08-30'],
      table: 'archive.nft_classes',
    },
  ];
};

export type LongLists = { lists: LongList[]; postgres: string };

/** `share`: of the sizes named above. */
export async function measureLongLists(share: number, signal: AbortSignal): Promise<LongLists> {
  const lists: LongList[] = [];
  let postgres = 'unknown';
  for (const one of wanted(share)) {
    const { version, ...read } = await readTwice(one, signal);
    lists.push(read);
    postgres = version;
  }
  return { lists, postgres };
}

async function readTwice(
  { what, orders, classes, dialect, only, table }: Wanted,
  signal: AbortSignal,
): Promise<LongList & { version: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'outlast-bench-'));
  // Run by root, the server has another user, who must be able to pass through.
  await chmod(folder, 0o755);
  const closers: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    const platform = await simulate(orders, classes, { dialect });
    closers.push(() => platform.close());
    const embedded = await openEmbedded({ dataDir: join(folder, 'data'), log: silentLog() });
    closers.push(() => embedded.close());
    const env = { ...platform.env, DATABASE_URL: embedded.connectionString };
    await runCommand(['migrate'], env, signal);
    const loadBefore = load();
    const first = await runCommand(['sync', '--json', ...only], env, signal);
    const requests = await platform.requested();
    const again = await runCommand(['sync', '--json', ...only], env, signal);
    const client = new pg.Client({ connectionString: embedded.connectionString });
    await client.connect();
    closers.push(() => client.end());
    const { rows } = await client.query<{
      records: number;
      days: number;
      surety: string;
      version: string;
    }>(
      `select (select count(*)::int from ${table}) as records, count(*)::int as days,
              string_agg(distinct state || ', ' || proof, '; ') as surety, current_setting('server_version') as version
         from sync.slices where shown_total > 0`,
    );
    const [row] = rows;
    if (row === undefined) throw new Error('the archive cannot be counted');
    return {
      what,
      ...row,
      requests,
      seconds: first.seconds,
      secondsAgain: again.seconds,
      peakMb: Math.max(first.peakMb, again.peakMb),
      loadBefore,
    };
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

const round = (number: number, digits = 0): number => Number(number.toFixed(digits));

export const longListTables = ({ lists }: LongLists): Table[] => [
  {
    name: 'long-lists',
    head: [
      '',
      'records',
      'days',
      'requests',
      's',
      's again',
      'peak MB',
      'its days, proved by',
      'load before',
    ],
    rows: lists.map((one) => [
      one.what,
      one.records,
      one.days,
      one.requests,
      round(one.seconds, 1),
      round(one.secondsAgain, 1),
      round(one.peakMb),
      one.surety,
      round(one.loadBefore, 1),
    ]),
    notes: [],
  },
];
