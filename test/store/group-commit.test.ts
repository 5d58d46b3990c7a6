import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { inGroups, type Transact } from '../../src/store/group-commit.ts';

/** A database whose commits fail while `fails` says so, and what each transaction wrote. */
function database(fails: (written: string[]) => boolean = () => false) {
  const committed: string[][] = [];
  const transact: Transact<string[]> = async (work) => {
    const written: string[] = [];
    const result = await work(written);
    if (fails(written)) throw new Error('the commit failed');
    committed.push(written);
    return result;
  };
  return { committed, transact: inGroups(transact) };
}

const writes =
  (what: string) =>
  async (tx: string[]): Promise<string> => {
    await Promise.resolve();
    tx.push(what);
    return what;
  };
const throws = async (tx: string[]): Promise<never> => {
  await writes('of no use')(tx);
  throw new Error('no');
};

test('those that wait while one is under way are one transaction, in the order given', async () => {
  const { committed, transact } = database();
  const results = await Promise.all(['a', 'b', 'c'].map((what) => transact(writes(what))));
  expect(results).toEqual(['a', 'b', 'c']);
  expect(committed).toEqual([['a'], ['b', 'c']]);
});

test('P1: one that throws takes no other with it, and nothing of it is committed', async () => {
  const { committed, transact } = database();
  const works = [writes('a'), writes('b'), throws, writes('c')];
  const ended = await Promise.allSettled(works.map((work) => transact<string>(work)));
  expect(ended.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
  ]);
  expect(committed).toEqual([['a'], ['b'], ['c']]);
});

test('a commit that failed may have been one: nothing of it is done again by itself', async () => {
  const { committed, transact } = database((written) => written.includes('b'));
  const ended = await Promise.allSettled(['a', 'b', 'c'].map((what) => transact(writes(what))));
  expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(committed).toEqual([['a']]);
});

test('P8: works that mix run at the same time, the others one after another behind them', async () => {
  const { committed, transact } = database();
  /** Writes its beginning and its end, with a turn of others between them. */
  const inTwo =
    (what: string) =>
    async (tx: string[]): Promise<void> => {
      tx.push(`${what} begins`);
      await new Promise(setImmediate);
      tx.push(`${what} ends`);
    };
  await Promise.all([
    transact(writes('first')),
    transact(inTwo('a')),
    transact(inTwo('mixed 1'), true),
    transact(inTwo('b')),
    transact(inTwo('mixed 2'), true),
  ]);
  expect(committed[1]).toEqual(
    [
      ['mixed 1 begins', 'mixed 2 begins', 'mixed 1 ends', 'mixed 2 ends'],
      ['a begins', 'a ends', 'b begins', 'b ends'],
    ].flat(),
  );
});

test('P1: a transaction is not ended while a work that mixes is under way in it', async () => {
  const ended = new Set<string[]>();
  const transact = inGroups<string[]>(async (work) => {
    const tx: string[] = [];
    return work(tx).finally(() => ended.add(tx));
  });
  const toTheEnd = async (tx: string[]): Promise<boolean> => {
    await new Promise(setImmediate);
    wasOpen.push(!ended.has(tx));
    return true;
  };
  const wasOpen: boolean[] = [];
  const results = await Promise.allSettled([
    transact(writes('first')),
    transact<never>(throws, true),
    transact(toTheEnd, true),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(wasOpen).toEqual([true, true]);
});

test('a transaction is, to a trace, of its first work, also where another work began the row of groups', async () => {
  const slice = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  const transact = inGroups<null>((work) => {
    seen.push(slice.getStore());
    return work(null);
  });
  const commits = ['a', 'b', 'c'].map((name) =>
    slice.run(name, () => transact(() => Promise.resolve())),
  );
  await Promise.all(commits);
  expect(seen).toEqual(['a', 'b']);
});
