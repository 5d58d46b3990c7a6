// How long the platform's page keys live: keys remembered from earlier walks are tried again (proof rule 6). A walk
// never relies on it; it tells whether one that was cut off can go on where it was.
import { isOutlastError } from '../../errors.ts';
import type { Day, Instant } from '../../model.ts';
import type { Platform } from '../../platform/platform.ts';
import type { Queryable } from '../../store/db.ts';
import type { Facts } from '../../store/facts.ts';
import { rememberedKeys, type RememberedKey } from '../../store/pages.ts';
import { boundsOf, limitOf, spanOf } from '../list-rules.ts';

const ages: readonly { ms: number; name: string }[] = [
  { ms: 60_000, name: 'a minute' },
  { ms: 3_600_000, name: 'an hour' },
  { ms: 86_400_000, name: 'a day' },
  { ms: 7 * 86_400_000, name: 'a week' },
];

/** For example `an hour or more, less than a day`; `unknown` when no key is remembered or nothing was learned. */
export async function probeKeyLife(
  db: Queryable,
  platform: Platform,
  projectId: string,
  facts: Facts,
  windowFrom: Day,
  signal: AbortSignal,
): Promise<string> {
  const keys = await rememberedKeys(db, projectId, windowFrom);
  let lived: Instant = 0;
  let died: Instant = Infinity;
  // Ends: two keys at most, the oldest first.
  for (const key of keys) {
    const age = platform.clock.now() - key.askedAt;
    if (await isAlive(platform, key, facts, windowFrom, signal)) {
      lived = Math.max(lived, age);
      break;
    }
    died = Math.min(died, age);
  }
  return describe(lived, died);
}

function describe(lived: Instant, died: Instant): string {
  const atLeast = ages.findLast(({ ms }) => ms <= lived);
  const below = ages.find(({ ms }) => ms >= died);
  const parts = [
    ...(atLeast === undefined ? [] : [`${atLeast.name} or more`]),
    ...(below === undefined ? [] : [`less than ${below.name}`]),
  ];
  return parts.length === 0 ? 'unknown' : parts.join(', ');
}

async function isAlive(
  platform: Platform,
  { day, pageKey, order, ids }: RememberedKey,
  facts: Facts,
  windowFrom: Day,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const page = await platform.orders(
      {
        ...boundsOf(spanOf(day, 'orders', facts), 'orders', facts, windowFrom),
        pageKey,
        limit: limitOf(facts, 'orders'),
        sortBy: order === 'desc' ? 'DATE_DESC' : 'DATE_ASC',
        countTotal: false,
      },
      signal,
    );
    const shown = new Set(page.records.map((record) => record.id));
    return ids.some((id) => shown.has(id));
  } catch (error) {
    if (isOutlastError(error, 'platform_refused')) return false;
    throw error;
  }
}
