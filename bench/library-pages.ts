// Pages through the library, at random depths of the whole list, one at a time: what `orders.list` takes from the call
// to its objects. Also what a total and a single order take. A process of its own, started by reading.ts. Prints what it
// measured as JSON.
import { addDays } from '../src/day.ts';
import { silentLog } from '../src/log.ts';
import { openArchive } from '../src/query/archive.ts';
import type { Archive } from '../src/query/types.ts';
import { openDb } from '../src/store/db.ts';
import { cursorAt, randomPlaces, timesOf, type Filling, type Place } from './archive.ts';
import { time, type Timed } from './timing.ts';

const aimMs = 5;

type Query = Parameters<Archive['orders']['list']>[0];

/** A query whose status is spelt as a cursor is bound to it: a list. */
type Scope = Omit<Query, 'limit' | 'cursor' | 'offset'> & { order: 'asc' | 'desc' };

const { BENCH_DATABASE: connectionString = '', BENCH_FILLING = '' } = process.env;
const filling = JSON.parse(BENCH_FILLING) as Filling;
const { project } = filling;
const pages = timesOf(filling);
const db = await openDb({ connectionString, role: null, log: silentLog() });
const archive = await openArchive({ connectionString, statementTimeoutMs: 600_000 });

const list = async (query: Query): Promise<number> =>
  (await archive.orders.list(query)).items.length;
let seed = 0;
const places = (count = pages): Promise<Place[]> => randomPlaces(db, filling, count, (seed += 1));
const deep = async (
  what: string,
  scopeOf: (place: Place) => Scope,
  { limit = 50, ...aim }: { limit?: number; aimMs?: number } = {},
): Promise<Timed> => {
  const queries = (await places()).map((place) => {
    const scope = scopeOf(place);
    return { ...scope, limit, cursor: cursorAt(scope, place) };
  });
  return time({ what, ...aim }, queries, list);
};
const asc: Scope = { project, order: 'asc' };
const desc: Scope = { project, order: 'desc' };
// What a page runs has been compiled by then.
await deep('not counted', () => asc);
await deep('not counted', () => desc);
const timed: Timed[] = [
  await time(
    { what: 'first page of 50, newest first', aimMs },
    Array.from({ length: pages }, () => ({ ...desc, limit: 50 })),
    list,
  ),
  await deep('page of 50', () => asc, { aimMs }),
  await deep('page of 50, newest first', () => desc, { aimMs }),
  await deep('page of 100', () => asc, { aimMs, limit: 100 }),
  await deep('page of 50, failed (3 of 100)', () => ({ ...asc, status: [3] })),
  await deep('page of 50, pending (1 of 5,000)', () => ({ ...asc, status: [1] })),
  await deep('page of 50 of an account', ({ account }) => ({ ...asc, account })),
  await time({ what: 'one order by its id', aimMs }, await places(), async ({ position }) =>
    (await archive.orders.get(project, position.operationId)) === null ? 0 : 1,
  ),
  await time({ what: 'total of a day' }, await places(pages / 5), ({ position: { sliceDay } }) =>
    archive.orders.count({ project, from: sliceDay, to: sliceDay }),
  ),
  await time({ what: 'total of 30 days' }, await places(pages / 20), ({ position: { sliceDay } }) =>
    archive.orders.count({ project, from: sliceDay, to: addDays(sliceDay, 29) }),
  ),
  await time({ what: 'total of all' }, [1, 2, 3], () => archive.orders.count(asc)),
];
await archive.close();
await db.close();
process.stdout.write(`${JSON.stringify(timed)}\n`);
