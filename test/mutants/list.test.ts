// That `npm run check:mutants` can run: what it looks for is there, and so are the tests that must notice.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { anywhere, mutants } from './list.ts';

const root = resolve(import.meta.dirname, '../..');

test('every mutant has one place in src/, and tests that are there', () => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(root, 'src', name), 'utf8'));
  const places = (find: string): number =>
    sources.reduce((sum, text) => sum + [...text.matchAll(anywhere(find))].length, 0);
  const isThere = (name: string): boolean => existsSync(join(root, 'test', `${name}.test.ts`));
  expect(mutants.length).toBeGreaterThanOrEqual(60);
  expect(mutants.filter(({ find }) => places(find) !== 1).map(({ wrong }) => wrong)).toEqual([]);
  expect(mutants.flatMap(({ tests }) => tests).filter((name) => !isThere(name))).toEqual([]);
});
