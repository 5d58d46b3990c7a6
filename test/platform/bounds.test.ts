// What is too long is cut out while it comes in; what is left is read so that others have their turn.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { PlatformPage } from '../../src/model.ts';
import { byteBounds, mostParts, type ByteBounds } from '../../src/platform/byte-bounds.ts';
import { createGatherer, type AnswerShape, type Gathered } from '../../src/platform/gather.ts';
import { ordersPage, readOrdersPage } from '../../src/platform/pages.ts';
import { runAtOnce } from '../../src/platform/yielding-work.ts';

const askedAt = Date.parse('2026-03-02T00:00:00Z');
const pageOf = (elements: string[], more = ''): string =>
  `{"data":{"next_page_key":"k","order_infos":[${elements.join(',')}]${more}}}`;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

type How = { size?: number; bounds?: ByteBounds; shape?: AnswerShape };

/** Takes a body in, in pieces of so many bytes; a sentence where it is too long. */
function gathered(
  body: string | Buffer,
  { size = 65_536, bounds = byteBounds, shape = 'list' }: How = {},
): Gathered | string {
  const gatherer = createGatherer(shape, bounds);
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.length; at += size) {
    const tooLong = gatherer.add(bytes.subarray(at, at + size));
    if (tooLong !== null) return tooLong;
  }
  return gatherer.end();
}

function read(body: string | Buffer, how: How = {}): PlatformPage {
  const answer = gathered(body, how);
  if (typeof answer === 'string') throw new Error(answer);
  return runAtOnce(ordersPage(answer, askedAt));
}

describe('P12: a record beyond its bound', () => {
  const bounds = { ...byteBounds, record: 100, beginning: 10 };
  const record = (id: string, length: number): string =>
    `{"operation_id":"${id}","x":"${'\\"'.repeat(length / 2)}"}`;

  it('is set aside with its beginning, its length and the digest of all of it', () => {
    const long = record('b', 400);
    const { records, rejects, shown, last, nextKey } = read(
      pageOf([record('a', 2), long, record('c', 2)]),
      { bounds },
    );
    expect(records.map(({ id }) => id)).toEqual(['a', 'c']);
    expect({ shown, last, nextKey }).toEqual({ shown: 3, last: 'c', nextKey: 'k' });
    expect(rejects).toMatchObject([
      { bytes: Buffer.from(long.slice(0, 10)), sha256: sha256(long), wholeLength: long.length },
    ]);
    expect(rejects[0]?.reason).toContain(`${long.length} bytes long`);
  });

  it('changes nothing of the others, wherever the pieces of an answer end', () => {
    const json = fc.json({ maxDepth: 4 });
    const space = fc.constantFrom('', ' ', '\n\t ');
    const element = fc.oneof(
      json,
      fc.constantFrom(record('a', 2), record('b', 60), record('c', 90), '"a, ] } \\\\"', '[[],{}]'),
    );
    const body = fc
      .tuple(fc.array(fc.tuple(space, element, space)), fc.dictionary(fc.string(), fc.jsonValue()))
      .map(([elements, more]) =>
        pageOf(
          elements.map((parts) => parts.join('')),
          `,"more":${JSON.stringify(more)}`,
        ),
      );
    fc.assert(
      fc.property(body, fc.integer({ min: 1, max: 200 }), (text, size) => {
        const plain = readOrdersPage(Buffer.from(text), askedAt);
        const cut = read(text, { size, bounds });
        const isLong = ({ rawJson }: { rawJson: string }): boolean =>
          Buffer.byteLength(rawJson) > bounds.record;
        expect(cut.shown).toBe(plain.shown);
        expect(cut.records).toEqual(plain.records.filter((one) => !isLong(one)));
        const digests = [
          ...plain.rejects.map((one) => one.sha256),
          ...plain.records.filter(isLong).map(({ rawJson }) => sha256(rawJson)),
        ];
        expect(cut.rejects.map((one) => one.sha256).toSorted()).toEqual(digests.toSorted());
      }),
    );
  });

  it('makes no JSON of what is none', () => {
    const filler = record('a', 90);
    for (const text of [
      pageOf([filler, '1 2']),
      pageOf([filler, '{"operation_id":"b"}{"operation_id":"c"}']),
      pageOf([filler, '"a" "b"']),
      pageOf([filler, '']),
    ]) {
      expect(() => read(text, { bounds, size: 3 })).toThrow('not JSON');
    }
  });

  it('is one, too, whose numbers nobody could write out', () => {
    const number = '1e131071';
    const { records, rejects } = read(
      pageOf([
        `{"operation_id":"a","x":[${Array(100).fill(number).join(',')}]}`,
        `{"operation_id":"b","x":${number}}`,
      ]),
    );
    expect(records.map(({ id }) => id)).toEqual(['b']);
    expect(rejects).toMatchObject([
      { reason: 'its numbers, written out, are too long', wholeLength: null },
    ]);
  });
});

describe('P12: an answer beyond its bound is not read', () => {
  const bounds = { ...byteBounds, answer: 5000, held: 3000, record: 1000, string: 50 };
  const ofRecords = (count: number): string =>
    pageOf(
      Array.from({ length: count }, (_, i) => `{"operation_id":"${i}","x":"${'x'.repeat(500)}"}`),
    );
  test.each<[string, string, string, AnswerShape]>([
    ['altogether', pageOf([`"${'x'.repeat(6000)}"`]), 'an answer longer than 5000 bytes', 'list'],
    ['what is held of it', ofRecords(7), 'an answer longer than 3000 bytes, besides', 'list'],
    ['one record alone', ofRecords(2), 'an answer longer than 1000 bytes', 'record'],
  ])('%s', (_what, body, says, shape) => {
    expect(gathered(body, { bounds, shape, size: 100 })).toContain(says);
  });

  it('nor one of records without number', () => {
    const many = Array.from({ length: mostParts + 1 }, () => '{}');
    expect(() => readOrdersPage(Buffer.from(pageOf(many)), askedAt)).toThrow('10001 records');
    const long = pageOf([...many, `"${'x'.repeat(byteBounds.record)}"`]);
    expect(gathered(long)).toContain(`more than ${mostParts} parts`);
  });

  it('nor a page key that nobody could send', () => {
    const body = `{"data":{"next_page_key":"${'k'.repeat(byteBounds.string + 1)}"}}`;
    expect(() => readOrdersPage(Buffer.from(body), askedAt)).toThrow('too long to be sent');
  });
});

describe('P12: however an answer is made, others have their turn while it is read', () => {
  const record = (content: string): string => `{"operation_id":"a","x":${content}}`;
  const list = (one: string, length: number): string =>
    Array.from({ length: Math.floor(length / (one.length + 1)) }, () => one).join(',');
  const most = byteBounds.record - 100;
  /** As much of one kind as is read at all. */
  const full = (one: string, length = 3 * byteBounds.record): Buffer =>
    Buffer.from(
      pageOf(Array.from({ length: Math.floor(length / (one.length + 1)) - 1 }, () => one)),
    );
  const bodies: [string, () => Buffer][] = [
    ['strings', () => full(record(`"${'x'.repeat(most)}"`))],
    ['quotation marks', () => full(record(`"${'\\"'.repeat(most / 2)}"`))],
    ['lists in lists', () => full(record(`[${list('['.repeat(200) + ']'.repeat(200), most)}]`))],
    ['deeper lists', () => full(record('['.repeat(most / 2) + ']'.repeat(most / 2)))],
    ['empty objects', () => full(record(`[${list('{}', most)}]`))],
    [
      'keys',
      () => full(record(`{${Array.from({ length: most / 12 }, (_, i) => `"k${i}":0`).join(',')}}`)),
    ],
    ['short records', () => full(record(`"${'x'.repeat(1000)}"`), byteBounds.held - 200)],
    [
      'bytes that are no UTF-8',
      () => Buffer.from(full(record(`"${'a\xff'.repeat(most / 2)}"`)).toString('utf8'), 'latin1'),
    ],
    [
      'a record of 60 MB',
      () => Buffer.from(pageOf([record('0'), record(`"${'\\"'.repeat(30_000_000)}"`)])),
    ],
  ];
  // Of the processor's time. What looks at each byte more than a few times takes minutes.
  const mostMs = 30_000;
  test.each(bodies)('%s', (_name, make) => {
    expect(longestTurn(make())).toBeLessThan(mostMs);
  });

  /** Milliseconds that nobody else had a turn in, at most. */
  function longestTurn(body: Buffer): number {
    let longest = 0;
    const timed = <T>(work: () => T): T => {
      const before = process.cpuUsage();
      const result = work();
      const { user, system } = process.cpuUsage(before);
      longest = Math.max(longest, (user + system) / 1000);
      return result;
    };
    const gatherer = createGatherer('list');
    for (let at = 0; at < body.length; at += 65_536) {
      const piece = body.subarray(at, at + 65_536);
      expect(timed(() => gatherer.add(piece))).toBeNull();
    }
    const work = ordersPage(
      timed(() => gatherer.end()),
      askedAt,
    );
    for (let isDone = false; !isDone;) isDone = timed(() => work.next()).done === true;
    return longest;
  }
});
