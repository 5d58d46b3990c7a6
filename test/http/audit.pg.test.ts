// An auditor with curl and nothing else: what was certified of a month is read back over HTTP, record by record,
// whatever changed or came since, and adds up to the certified digests (P4, P5).
import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Served } from '../../src/http/server.ts';
import { openArchive } from '../../src/index.ts';
import { createCertified, observe } from '../support/certified.ts';
import { fresh } from '../support/fresh.ts';
import { serveArchive, textAt } from '../support/served.ts';

let served: Served;

type Named = { operation_id?: string; id?: string; slice_day: string; raw_sha256: string };
type Day = { day: string; records: number; digest: string };
type Certificate = {
  resource: 'orders' | 'nft_classes';
  certified_at: string;
  records: number;
  digest: string;
  certificate: { days: Day[] };
};

const ask = (path: string): Promise<string> => textAt(`${served.url}/archive/v1${path}`);

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** The certified days, made of what the list says, as docs/verify.md describes them. */
async function recomputed({ resource, certificate, certified_at: asOf }: Certificate) {
  const path = `/${resource}?from=2026-03-01&to=2026-03-31&format=ndjson&as_of=${asOf}`;
  const lines = (await ask(path)).split('\n').slice(0, -1);
  const records = lines.map((line) => JSON.parse(line) as Named);
  const days = certificate.days.map(({ day }) => {
    const leaves = records
      .filter((record) => record.slice_day === day)
      .map((record) => ({ id: record.operation_id ?? record.id ?? '', of: record.raw_sha256 }))
      .toSorted((a, b) => byBytes(a.id, b.id))
      .map(({ id, of }) => `${id}\t${of}\n`);
    return { day, records: leaves.length, digest: hash('sha256', leaves.join('')) };
  });
  const month = days.map(({ day, records: count, digest }) => `${day}\t${count}\t${digest}\n`);
  return { records: records.length, days, digest: hash('sha256', month.join('')) };
}

test('what was certified is read as of its moment, and adds up', async () => {
  const bench = await fresh(createCertified());
  const { connectionString } = bench;
  served = await fresh(serveArchive(await fresh(openArchive({ connectionString }))));
  const { items } = JSON.parse(await ask('/certificates')) as { items: Certificate[] };
  expect(items.map(({ resource }) => resource)).toEqual(['orders', 'nft_classes']);
  // Since then one order changed, and one came that nobody had seen.
  const [{ operation_id: id } = { operation_id: '' }] = (
    JSON.parse(await ask('/orders?from=2026-03-05&limit=1')) as { items: Named[] }
  ).items;
  const changed = { operation_id: id, status: 3, create_time: '2026-03-05T08:00:00Z' };
  for (const order of [
    { ...changed, update_time: '2026-05-02T00:00:00Z' },
    { operation_id: 'late', create_time: '2026-03-05T09:00:00Z' },
  ]) {
    await observe(bench, JSON.stringify(order), '2026-05-03T00:00:00Z');
  }
  for (const certified of items) {
    const { records, digest, certificate } = certified;
    expect(records).toBeGreaterThan(20);
    expect(await recomputed(certified)).toMatchObject({ records, digest });
    expect(certificate.days).toMatchObject((await recomputed(certified)).days);
    // The check can fail: now is not then.
    const now = await recomputed({ ...certified, certified_at: '2026-06-01T00:00:00Z' });
    if (certified.resource === 'orders') expect(now.digest).not.toBe(digest);
  }
  expect((await bench.verify()).findings).toEqual([]);
});
