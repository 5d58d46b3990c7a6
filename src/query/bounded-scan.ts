// Finding records where not every row that is read matches: a page is filled from rows of now, some of which turn out
// not to. Knows no SQL. The reading is bounded, so that a page costs no more where little matches (P9).

/** A row of now, by its key, and whether one of its contents may match. */
export type Scanned<Key> = { key: Key; matches: boolean };

/**
 * `reached` is where the reading stopped, null at the end: there may be more behind it even where nothing was found.
 */
export type ScanResult<Key, Item> = { found: { item: Item; key: Key }[]; reached: Key | null };

/** Rows looked at for one page: at most so many times, and so many at once unless more were asked for. */
const roundsAtMost = 6;
const rowsAtOnce = 2000;

/** Up to `wanted` items after a key; fewer where so little matches that looking for more would take too long. */
export async function scanFor<Key, Item>(
  { after, wanted }: { after: Key | null; wanted: number },
  scan: (after: Key | null, atMost: number) => Promise<Scanned<Key>[]>,
  /** What was said under each of the keys; undefined where nothing matches after all. */
  contentsOf: (keys: Key[]) => Promise<(Item | undefined)[]>,
): Promise<ScanResult<Key, Item>> {
  const found: ScanResult<Key, Item>['found'] = [];
  let reached = after;
  for (let round = 0; round < roundsAtMost && found.length < wanted; round++) {
    const missing = wanted - found.length;
    // Where most match, the first look finds them all; where few do, the looks become wide.
    const atMost = Math.max(missing, Math.min(rowsAtOnce, wanted * 4 ** round));
    const rows = await scan(reached, atMost);
    const matching = rows.filter((row) => row.matches).slice(0, missing);
    const contents = await contentsOf(matching.map(({ key }) => key));
    for (const [i, { key }] of matching.entries()) {
      const item = contents[i];
      if (item !== undefined) found.push({ item, key });
    }
    // Matching rows that were not wanted any more are looked at again by the next page.
    const last = matching.length === missing ? matching.at(-1) : rows.at(-1);
    if (rows.length < atMost && last === rows.at(-1)) return { found, reached: null };
    if (last !== undefined) reached = last.key;
  }
  return { found, reached };
}

/** Everything after the beginning. Ends: every look begins after the last row of the one before. */
export async function* scanThrough<Key, Item>(
  read: (after: Key | null) => Promise<ScanResult<Key, Item>>,
): AsyncGenerator<Item> {
  let after: Key | null = null;
  do {
    const { found, reached }: ScanResult<Key, Item> = await read(after);
    for (const { item } of found) yield item;
    after = reached;
  } while (after !== null);
}
