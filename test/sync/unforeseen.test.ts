// What is kept of an error that nobody foresaw, and how often in a row it may come.
import { expect, test } from 'vitest';
import { concernsAll, createRepetition, unforeseenText } from '../../src/sync/unforeseen-errors.ts';

test('a repetition is the same text so often in a row', () => {
  const repetition = createRepetition(3);
  const after = (...texts: (string | null)[]): boolean => {
    for (const text of texts) repetition.note(text);
    return repetition.isTooOften();
  };
  expect(after('a', 'a')).toBe(false);
  expect(after('b', 'a', 'a')).toBe(false);
  expect(after(null, 'a', 'a')).toBe(false);
  expect(after('a')).toBe(true);
  expect(after(null, null, null)).toBe(false);
});

test('P10: of an error that quotes, what it quotes is not kept', () => {
  const source = { baseUrl: '', apiKey: 'the-key' };
  const textOf = (error: unknown): string => unforeseenText(error, { source });
  let said = '';
  try {
    JSON.parse('{"account":"iaa1secret"');
  } catch (error) {
    said = textOf(error);
  }
  expect(said).not.toContain('secret');
  expect(textOf(new Error('a', { cause: new RangeError('the-key "x') }))).toBe(
    'something unforeseen: Error: a: [hidden] "…"',
  );
  expect(textOf('x'.repeat(1000)).length).toBeLessThanOrEqual(300);
});

test('what Postgres says of data, of limits or by a trigger concerns one slice; all else concerns all', () => {
  const concerns = (code: string): boolean => concernsAll(Object.assign(new Error(), { code }));
  expect(['21000', '22P02', '23505', '44000', '54000', 'P0001'].filter(concerns)).toEqual([]);
  expect(['53100', '08006', '57P01', 'ENOSPC'].filter((code) => !concerns(code))).toEqual([]);
});
