// Digests of days and months, and the lines they are made of. Pure; docs/verify.md tells auditors the same recipe:
//   leaf    day TAB id TAB raw_sha256 LF              ordered by day, then by the bytes of the id
//   day     SHA-256 over its leaves without the day:  id TAB raw_sha256 LF
//   month   SHA-256 over  day TAB count TAB digest LF  for each of its days, those without a record too
// An id may hold any text: in a line it stands as COPY's text format writes it, so that a line ends where it seems to.
import { createHash, type Hash } from 'node:crypto';
import type { Day } from '../model.ts';

/** A record's part in a certificate: its id and the digest of what it said. */
export type Leaf = { day: Day; id: string; sha256: string };

export type DayDigest = { day: Day; records: number; digest: string };

export type MonthDigest = ReturnType<ReturnType<typeof createMonthDigest>['end']>;

export const leafLine = ({ day, id, sha256 }: Leaf): string =>
  `${day}\t${escaped(id)}\t${sha256}\n`;

/** The leaf that a line without its line feed tells of; null if it is none. */
export function readLeafLine(line: string): Leaf | null {
  const parts = /^(\d{4}-\d\d-\d\d)\t([^\t]+)\t([0-9a-f]{64})$/s.exec(line);
  if (parts === null) return null;
  const [, day = '', id = '', sha256 = ''] = parts;
  return { day, id: unescaped(id), sha256 };
}

const letters: [mark: string, letter: string][] = [
  ['\\', '\\'],
  ['\b', 'b'],
  ['\t', 't'],
  ['\n', 'n'],
  ['\v', 'v'],
  ['\f', 'f'],
  ['\r', 'r'],
];
const letterOf = new Map(letters);
const markOf = new Map(letters.map(([mark, letter]) => [letter, mark]));

const escaped = (id: string): string =>
  id.replaceAll(/[\\\b\t\n\v\f\r]/g, (mark) => `\\${letterOf.get(mark) ?? mark}`);

const unescaped = (text: string): string =>
  text.replaceAll(/\\(.)/gs, (_, letter: string) => markOf.get(letter) ?? letter);

/**
 * Takes leaves in their order and gives the digests at the end. `days` are those that count although they may have no
 * record; a day that has one counts in any case.
 */
export function createMonthDigest(days: Iterable<Day>) {
  const open = new Map<Day, { hash: Hash; records: number }>();
  const dayAt = (day: Day): { hash: Hash; records: number } => {
    let found = open.get(day);
    if (found === undefined) open.set(day, (found = { hash: createHash('sha256'), records: 0 }));
    return found;
  };
  for (const day of days) dayAt(day);
  const leaves = createHash('sha256');
  return {
    add(leaf: Leaf): void {
      const line = leafLine(leaf);
      leaves.update(line);
      const day = dayAt(leaf.day);
      day.hash.update(line.slice(leaf.day.length + 1));
      day.records += 1;
    },
    end() {
      const ended = [...open]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([day, { hash, records }]) => ({ day, records, digest: hash.digest('hex') }));
      return {
        days: ended,
        records: ended.reduce((sum, { records }) => sum + records, 0),
        digest: monthDigest(ended),
        /** Of the whole file of leaves. */
        leavesSha256: leaves.digest('hex'),
      };
    },
  };
}

/** The month's digest from those of its days, which are in order. */
export function monthDigest(days: DayDigest[]): string {
  const month = createHash('sha256');
  for (const { day, records, digest } of days) month.update(`${day}\t${records}\t${digest}\n`);
  return month.digest('hex');
}
