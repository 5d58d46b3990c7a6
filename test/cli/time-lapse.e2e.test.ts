// `outlast demo --time-lapse`, at a quicker pace: what it shows has come to pass in the ledger, on the platform and over
// HTTP.
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  livedText,
  threeMonths,
  timeLapse,
  type Over,
  type Story,
} from '../../src/cli/time-lapse.ts';
import { daysIn } from '../../src/day.ts';

/** The first nine days: the first start, the outage over a month's end, and a day more. */
const nineDays: Story = { ...threeMonths, endsAt: Date.parse('2026-02-06T12:00:00Z') };

async function ledger({ worker: { db } }: Over): Promise<Record<string, string[]>> {
  const { rows } = await db.query<{ state: string; days: string[] }>(
    'select state, array_agg(day::text order by day) as days from sync.slices group by state',
  );
  return Object.fromEntries(rows.map(({ state, days }) => [state, days]));
}

/** How many orders of a day the archive answers with, and how many the platform does. */
async function answered({ worker, url }: Over, day: string): Promise<number[]> {
  const response = await fetch(
    `${url}/v3/orders?start_date=${day}&end_date=${day}&count_total=1&limit=50`,
  );
  const { data } = (await response.json()) as { data: { total_count: number } };
  const query = { startDate: day, endDate: day, sortBy: 'DATE_ASC', countTotal: true } as const;
  const { total } = await worker.platform.page({ resource: 'orders', limit: 50, ...query });
  return [data.total_count, total ?? -1];
}

test('days are sealed, a month is forgotten by the platform and certified, and what an outage hid is lost by name', async () => {
  expect.assertions(19);
  const said: string[] = [];
  const whenOver = async (over: Over): Promise<void> => {
    const { worker, url, lived: end } = over;
    const { lost = [], final = [], sealed = [] } = await ledger(over);
    expect(lost).toEqual(daysIn({ from: '2025-12-25', to: '2026-01-01' }));
    expect(final).toEqual(daysIn({ from: '2025-12-01', to: '2025-12-25' }));
    expect(sealed).toContain('2026-02-04');
    expect(end).toMatchObject({ lost, final: 24, sealed: sealed.length, days: 68 });

    const [held = 0, shown] = await answered(over, '2025-12-15');
    expect(held).toBeGreaterThan(0);
    expect(shown).toBe(0);
    // Of a lost day neither says anything; of a day in the window both say the same.
    expect(await answered(over, '2025-12-31')).toEqual([0, 0]);
    const [heldNow, shownNow] = await answered(over, '2026-02-05');
    expect(heldNow).toBe(shownNow);

    const { rows } = await worker.db.query<{ month: string; records: number }>(
      `select month::text, (certificate ->> 'records')::int as records from sync.certificates`,
    );
    expect(rows).toEqual([{ month: '2025-12-01', records: expect.any(Number) as number }]);
    const { rows: alerts } = await worker.db.query(
      'select kind, subject, told_at from sync.alerts order by 1',
    );
    // Days of December that showed nothing were read twice within a day only: held, and not proved.
    expect(alerts).toEqual(
      ['day_lost', 'day_unproved'].map((kind) => ({
        kind,
        subject: 'orders 2025-12',
        told_at: null,
      })),
    );
    expect(await (await fetch(`${url}/alerts`)).text()).toContain('orders 2025-12: 7 days');
    expect(await readdir(join(worker.certificatesDir ?? '', 'demo'))).toEqual([
      'orders-2025-12.certificate.json',
      'orders-2025-12.leaves.txt',
    ]);

    const text = said.join('\n');
    expect(text).toContain('LOST FOR EVER: 2025-12-25 to 2025-12-31.');
    expect(text).toContain(`Certificate of December 2025: 24 days, ${rows[0]?.records} orders`);
    expect(text).toContain(`- the archive answers with ${held} orders`);
    expect(text.indexOf('OFF FOR A WEEK')).toBeLessThan(text.indexOf('LOST FOR EVER'));
    const begins = /^2026-01-29  Outlast starts\.[^…]+/m;
    const [inReadme = ''] = begins.exec(readFileSync('README.md', 'utf8')) ?? [];
    expect(text.replace('(0 s)', '(14 s)')).toContain(inReadme.trimEnd());
    expect(livedText(end)).toContain('7: 2025-12-25 to 2025-12-31');
    expect(said.filter((line) => line.length > 80)).toEqual([]);
  };
  await timeLapse({
    story: nineDays,
    seconds: 0,
    say: (text) => void said.push(...text.split('\n')),
    signal: new AbortController().signal,
    whenOver,
  });
});
