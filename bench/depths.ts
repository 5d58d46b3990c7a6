// Where pages begin: positions at random depths of the whole list, and the cursors that lead there without reading
// their way.
import { fingerprintOf } from '../src/query/cursor.ts';
import { writeCursor } from '../src/query/record-methods.ts';
import { sources } from '../src/query/record-sql.ts';
import { below, mix } from '../src/simulator/world.ts';
import type { Db } from '../src/store/db.ts';
import { idSql, type Filling } from './archive.ts';

export type Place = {
  position: Record<'sliceDay' | 'createdAt' | 'operationId', string>;
  account: string;
};

/** How often a page is read: often enough for a 99th of a hundred, and less where there are few to read. */
export const timesOf = ({ orders }: Filling): number => Math.min(1_000, Math.ceil(orders / 10));

/** The same places for the same seed. */
export async function randomPlaces(
  db: Db,
  { project, orders }: Filling,
  count: number,
  seed: number,
): Promise<Place[]> {
  const numbers = Array.from({ length: count }, (_, i) => below(mix(seed, i), orders));
  const { rows } = await db.query<{ day: string; at: string; id: string; account: string }>(
    `select slice_day as day, created_at as at, operation_id as id, account
       from unnest($2::int[]) with ordinality as wanted (n, place)
       join archive.orders on project_id = $1 and operation_id = ${idSql('n')}
      order by place`,
    [project, numbers],
  );
  return rows.map(({ day, at, id, account }) => ({
    position: { sliceDay: day, createdAt: at, operationId: id },
    account,
  }));
}

/** The cursor that a page ending there would have given. `query` is all of the list's arguments but its limit. */
export const cursorAt = (query: object, { position }: Place): string =>
  writeCursor(sources.orders, fingerprintOf('orders', query), 'after', position);
