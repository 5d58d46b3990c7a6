// Group commit: transactions of one writer run one after another, and those that wait meanwhile become one. What costs
// is the end of a transaction, and each answer that is waited for. Knows nothing of Postgres.
import { AsyncResource } from 'node:async_hooks';

/** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. */
export type Transact<Tx> = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/**
 * `mixes`: its statements may come between those of others that mix. Only what reads nothing that such others write may:
 * then the database is not kept waiting between one statement and the next.
 */
export type InGroups<Tx> = <T>(work: (tx: Tx) => Promise<T>, mixes?: boolean) => Promise<T>;

type Waiting<Tx> = {
  work: (tx: Tx) => Promise<unknown>;
  mixes: boolean;
  caller: AsyncResource;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
};

/**
 * A `transact` whose works share transactions: those that mix run at the same time, then the others one after another,
 * in the order given. Where one throws before the end, all are rolled back and each is run again in a transaction of its
 * own: a work may run twice. To a trace the transaction is its first work's, not of whoever began the row of groups.
 */
export function inGroups<Tx>(transact: Transact<Tx>): InGroups<Tx> {
  let waiting: Waiting<Tx>[] = [];
  let isWorking = false;

  const workOff = async (): Promise<void> => {
    isWorking = true;
    // Ends: when nobody waits.
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      await commit(transact, group);
    }
    isWorking = false;
  };

  return <T>(work: (tx: Tx) => Promise<T>, mixes = false) =>
    new Promise<T>((resolve, reject) => {
      const caller = new AsyncResource('outlast.transaction');
      waiting.push({ work, mixes, caller, resolve: resolve as (result: unknown) => void, reject });
      if (!isWorking) void workOff();
    });
}

async function commit<Tx>(transact: Transact<Tx>, group: Waiting<Tx>[]): Promise<void> {
  const results = new Map<Waiting<Tx>, unknown>();
  let hasBegun = false;
  const [first] = group;
  try {
    await first?.caller.runInAsyncScope(transact, null, async (tx: Tx) => {
      hasBegun = true;
      const run = async (one: Waiting<Tx>): Promise<unknown> =>
        results.set(one, await one.work(tx));
      const mixed = group.filter((one) => one.mixes).map(run);
      // No statement may be under way when the transaction ends.
      await Promise.allSettled(mixed);
      await Promise.all(mixed);
      for (const one of group) if (!one.mixes) await run(one);
    });
  } catch (error) {
    // Without a transaction none fares better; and whether one was committed whose end failed, nobody knows.
    const isTheirs = hasBegun && results.size < group.length && group.length > 1;
    if (!isTheirs) return group.forEach((one) => one.reject(error));
    for (const one of group) await commit(transact, [one]);
    return;
  }
  group.forEach((one) => one.resolve(results.get(one)));
}
