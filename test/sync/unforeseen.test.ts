// What is kept of an error that nobody foresaw, and how often in a row it may come.
import { expect, test } from 'vitest';
import { createRepetition, unforeseenText } from '../../src/sync/unforeseen-errors.ts';

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
