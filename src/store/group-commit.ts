// Group commit: transactions of one writer run one after another, and those that wait meanwhile are one. What costs is
// the end of a transaction and the wait for the row of the journal's chain. Knows nothing of Postgres.

/** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. */
export type Transact<Tx> = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

type Waiting<Tx> = {
  work: (tx: Tx) => Promise<unknown>;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
};

/**
 * A `transact` whose works run one after another, in the order given, several of them in one transaction. Where one
 * throws before the end, all are rolled back and each is run again in a transaction of its own: a work may run twice.
 */
export function inGroups<Tx>(transact: Transact<Tx>): Transact<Tx> {
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

  return <T>(work: (tx: Tx) => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ work, resolve: resolve as (result: unknown) => void, reject });
      if (!isWorking) void workOff();
    });
}

async function commit<Tx>(transact: Transact<Tx>, group: Waiting<Tx>[]): Promise<void> {
  const results: unknown[] = [];
  let hasBegun = false;
  try {
    await transact(async (tx) => {
      hasBegun = true;
      for (const { work } of group) results.push(await work(tx));
    });
  } catch (error) {
    // Without a transaction none fares better; and whether one was committed whose end failed, nobody knows.
    const isTheirs = hasBegun && results.length < group.length && group.length > 1;
    if (!isTheirs) return group.forEach((one) => one.reject(error));
    for (const one of group) await commit(transact, [one]);
    return;
  }
  group.forEach((one, n) => one.resolve(results[n]));
}
