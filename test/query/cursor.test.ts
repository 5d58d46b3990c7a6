// Cursors: what was written is read again, and nothing else is (P12).
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { fingerprintOf } from '../../src/query/cursor.ts';
import { readCursor, writeCursor } from '../../src/query/record-methods.ts';
import { sources } from '../../src/query/record-sql.ts';

const scope = { project: 'p', from: '2026-03-01', to: '2026-04-01', order: 'asc' } as const;
const fingerprint = fingerprintOf('orders', scope);
const { orders } = sources;
const day = '2026-03-10';
const position = { sliceDay: day, createdAt: '2026-03-10T10:00:00.5Z', operationId: 'op_1' };
const invalid = expect.objectContaining({ kind: 'settings', code: 'cursor_invalid' }) as Error;

/** A cursor with a right checksum, whatever it says. */
function forged(content: unknown[]): string {
  const checksum = createHash('sha256').update(JSON.stringify(content)).digest('base64url');
  return Buffer.from(JSON.stringify([...content, checksum.slice(0, 16)])).toString('base64url');
}

test('a cursor leads back to its position, any id and unreadable times included', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
      fc.boolean(),
      fc.constantFrom('after', 'before'),
      (id, timed, side) => {
        fc.pre(!id.includes('\0'));
        const given = {
          ...position,
          operationId: id,
          createdAt: timed ? position.createdAt : null,
        };
        expect(
          readCursor(orders, writeCursor(orders, fingerprint, side, given), fingerprint),
        ).toEqual({
          side,
          position: given,
        });
      },
    ),
  );
});

test('the edge of a list is no position, whichever side of it is meant', () => {
  for (const side of ['after', 'before'] as const) {
    const cursor = writeCursor(orders, fingerprint, side, 'edge');
    expect(readCursor(orders, cursor, fingerprint)).toEqual({ side, position: null });
  }
});

test('the checksum of a forged cursor here is the one that is checked', () => {
  const content = [2, fingerprint, 'after', day, position.createdAt, position.operationId];
  expect(forged(content)).toBe(writeCursor(orders, fingerprint, 'after', position));
});

describe('refused is', () => {
  test('a cursor of another query: project, days, order, filter or resource', () => {
    const cursor = writeCursor(orders, fingerprint, 'after', position);
    for (const other of [
      fingerprintOf('nft_classes', scope),
      fingerprintOf('orders', { ...scope, project: 'q' }),
      fingerprintOf('orders', { ...scope, from: '2026-03-02' }),
      fingerprintOf('orders', { ...scope, order: 'desc' }),
      fingerprintOf('orders', { ...scope, status: [1] }),
    ]) {
      expect(() => readCursor(orders, cursor, other)).toThrow(invalid);
    }
  });

  test('a cursor with any one character changed', () => {
    const cursor = writeCursor(orders, fingerprint, 'after', position);
    for (let at = 0; at < cursor.length; at++) {
      const changed = `${cursor.slice(0, at)}${cursor[at] === 'A' ? 'B' : 'A'}${cursor.slice(at + 1)}`;
      expect(() => readCursor(orders, changed, fingerprint)).toThrow(invalid);
    }
  });

  test.each([
    '',
    ' ',
    '====',
    'not a cursor',
    '\0',
    'A'.repeat(9000),
    Buffer.from('{}').toString('base64url'),
    Buffer.from('null').toString('base64url'),
  ])('what never was one: %j', (cursor) => {
    expect(() => readCursor(orders, cursor, fingerprint)).toThrow(invalid);
  });

  // Each of these would be an SQL error if it were believed.
  test.each([
    ['another version', [1, fingerprint, 'after', day, null, 'op']],
    ['no side', [2, fingerprint, 'beside', day, null, 'op']],
    ['no day', [2, fingerprint, 'after', 'today', null, 'op']],
    ['a day that is a number', [2, fingerprint, 'after', 5, null, 'op']],
    ['no time', [2, fingerprint, 'after', day, 'now', 'op']],
    ['a time in the year 0', [2, fingerprint, 'after', day, '0000-01-01T00:00:00Z', 'op']],
    ['a time on no day', [2, fingerprint, 'after', day, '2026-02-30T00:00:00Z', 'op']],
    ['a 25th hour', [2, fingerprint, 'after', day, '2026-03-10T24:00:01Z', 'op']],
    ['an id with NUL', [2, fingerprint, 'after', day, null, 'o\0p']],
    ['an object for an id', [2, fingerprint, 'after', day, null, { toString: 'x' }]],
  ])('a forgery with a right checksum and %s', (_what, content) => {
    expect(() => readCursor(orders, forged(content), fingerprint)).toThrow(invalid);
  });
});

test('what is left out and what is undefined are one query', () => {
  expect(fingerprintOf('orders', { ...scope, status: undefined })).toBe(fingerprint);
});
