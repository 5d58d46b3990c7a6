// What of an answer is too long is set aside, or the answer is no page.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { byteBounds } from '../../src/platform/byte-bounds.ts';
import { readOrdersPage } from '../../src/platform/pages.ts';

const pageOf = (elements: string[]): Buffer =>
  Buffer.from(`{"data":{"next_page_key":"k","order_infos":[${elements.join(',')}]}}`);
const read = (body: Buffer) => readOrdersPage(body, Date.parse('2026-03-02T00:00:00Z'));
/** Of so many bytes. */
const record = (id: string, length: number): string => {
  const [before, after] = [`{"operation_id":"${id}","x":"`, '"}'];
  return before + 'x'.repeat(length - before.length - after.length) + after;
};

describe('P12: a record beyond its bound', () => {
  it('is set aside with its beginning, its length and the digest of all of it', () => {
    const long = record('b', byteBounds.record + 1);
    const body = pageOf([record('a', 100), ` ${long}\n`, record('c', byteBounds.record)]);
    const { records, rejects, shown, last, nextKey } = read(body);
    expect(records.map(({ id }) => id)).toEqual(['a', 'c']);
    expect({ shown, last, nextKey }).toEqual({ shown: 3, last: 'c', nextKey: 'k' });
    expect(rejects).toMatchObject([
      {
        bytes: Buffer.from(long.slice(0, byteBounds.beginning)),
        sha256: createHash('sha256').update(long).digest('hex'),
        wholeLength: long.length,
      },
    ]);
    expect(rejects[0]?.reason).toContain(`${long.length} bytes long`);
  });

  it('is measured in bytes, also where they are no UTF-8', () => {
    const [fits, long] = [byteBounds.record, byteBounds.record + 1].map((length) =>
      Buffer.from(record('a', length).replaceAll('x', '\xff'), 'latin1'),
    );
    const page = (one = Buffer.of()): Buffer =>
      Buffer.concat([Buffer.from('{"data":{"order_infos":['), one, Buffer.from(']}}')]);
    // The field's own name has become bytes that are no UTF-8, too.
    expect(read(page(fits))).toMatchObject({ records: [{ id: 'a' }], rejects: [] });
    expect(read(page(long)).rejects).toMatchObject([
      {
        wholeLength: long?.length,
        sha256: createHash('sha256')
          .update(long ?? '')
          .digest('hex'),
      },
    ]);
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

describe('P12: an answer is no page', () => {
  it('of more values than can be taken apart', () => {
    expect(() => read(pageOf([`[${'0,'.repeat(300_000)}0]`]))).toThrow(
      'an answer of more than 300000 values',
    );
  });

  it('with a page key that nobody could send', () => {
    const body = `{"data":{"next_page_key":"${'k'.repeat(byteBounds.string + 1)}"}}`;
    expect(() => read(Buffer.from(body))).toThrow('too long to be sent');
  });
});
