// Leaves and digests as their recipe says: each line one record, whatever its id holds.
import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createMonthDigest,
  leafLine,
  monthDigest,
  readLeafLine,
  type Leaf,
} from '../../src/verify/digest.ts';

const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
const sha256 = sha('content');
const leaf = (day: string, id: string): Leaf => ({ day, id, sha256 });

describe('a leaf', () => {
  const ids = fc.string({ unit: 'binary', minLength: 1 }).filter((id) => !id.includes('\0'));

  it('is one line for any id, and is read back as it was', () => {
    fc.assert(
      fc.property(fc.oneof(ids, fc.stringMatching(/^[\\\t\nnt]+$/)), (id) => {
        const line = leafLine(leaf('2026-03-05', id));
        expect(line.indexOf('\n')).toBe(line.length - 1);
        expect(line.split('\t')).toHaveLength(3);
        expect(readLeafLine(line.slice(0, -1))).toEqual(leaf('2026-03-05', id));
      }),
    );
  });

  it('is written as COPY would', () => {
    expect(leafLine(leaf('2026-03-05', 'a\\b\tc\nd\re\bf\fg\vh\u0001ü'))).toBe(
      `2026-03-05\ta\\\\b\\tc\\nd\\re\\bf\\fg\\vh\u0001ü\t${sha256}\n`,
    );
  });

  it.each([
    '',
    'x',
    `2026-03-05\ta\t${sha256}0`,
    `2026-03-05\ta\tb\t${sha256}`,
    `2026-3-5\ta\t${sha256}`,
  ])('is not read from %j', (line) => {
    expect(readLeafLine(line)).toBeNull();
  });
});

describe('the digests of a month', () => {
  it('cover every day that counts, one without a record and one that nobody named too', () => {
    const digest = createMonthDigest(['2026-03-02', '2026-03-01']);
    for (const one of [leaf('2026-03-02', 'a'), leaf('2026-03-02', 'b'), leaf('2026-03-04', 'a')])
      digest.add(one);
    const ended = digest.end();
    const days = [
      { day: '2026-03-01', records: 0, digest: sha('') },
      { day: '2026-03-02', records: 2, digest: sha(`a\t${sha256}\nb\t${sha256}\n`) },
      { day: '2026-03-04', records: 1, digest: sha(`a\t${sha256}\n`) },
    ];
    expect(ended.days).toEqual(days);
    expect(ended.records).toBe(3);
    const lines = days.map((one) => `${one.day}\t${one.records}\t${one.digest}\n`);
    expect(ended.digest).toBe(sha(lines.join('')));
    expect(monthDigest(days)).toBe(ended.digest);
    const leaves = `2026-03-02\ta\t${sha256}\n2026-03-02\tb\t${sha256}\n2026-03-04\ta\t${sha256}\n`;
    expect(ended.leavesSha256).toBe(sha(leaves));
  });
});
