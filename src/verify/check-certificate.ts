// One certificate against itself, its files, its neighbour and the archive. The row is what is believed to be certified.
import { join } from 'node:path';
import { causeChain } from '../errors.ts';
import { digestOfFile, linesOf, textOfFile } from '../files.ts';
import type { Day } from '../model.ts';
import { canonicalFile, sha256 } from '../platform/canonical.ts';
import { booksOf, type HeldCertificate } from '../store/certificates.ts';
import type { ProjectList } from '../store/read-held.ts';
import type { Tx } from '../store/db.ts';
import { isHeadHeld } from '../store/journal/heads.ts';
import { certificateFormat, readCertificate, type Certificate } from './certificate.ts';
import { fileName, type FileKind } from './certificate-copies.ts';
import {
  createMonthDigest,
  monthDigest,
  readLeafLine,
  type DayDigest,
  type MonthDigest,
} from './digest.ts';
import type { Finding, Report } from './finding.ts';
import { compareWithLeaves, leavesInForce } from './leaves.ts';

type Checking = {
  tx: Tx;
  of: ProjectList;
  held: HeldCertificate;
  /** All certificates of the list: the links between them are looked at too. */
  all: readonly HeldCertificate[];
  folder: string | null;
  report: Report;
};

export async function checkCertificate(checking: Checking) {
  const { tx, of, held, report } = checking;
  const month = held.month.slice(0, 7);
  const tell = (kind: Finding['kind'], when: string, says: string): Promise<void> | void =>
    report({ kind, when, id: null, says });
  const certificate = readCertificate(held.text);
  for await (const says of contradictions(checking, certificate)) {
    await tell('certificate', month, says);
  }
  const days = certificate?.days ?? [];
  const digest = createMonthDigest(days.map(({ day }) => day));
  const { later } = await leavesInForce(tx, of, held.month, held.certifiedAt, (leaf) =>
    digest.add(leaf),
  );
  const now = digest.end();
  const files = await checkFiles(checking, now, (says) => tell('file', month, says));
  const differing = differingDays(now, days);
  if (differing.size > 0 && files.leavesPath !== null) {
    await compareWithLeaves(tx, of, held, differing, files.leavesPath, report);
    if ((await digestOfLeaves(files.leavesPath, days)) !== held.digest) {
      await tell('certificate', month, 'its digest is not that of its leaves');
    }
  } else {
    if (differing.size === 0 && now.leavesSha256 !== held.leavesSha256) {
      await tell('certificate', month, 'its leaves_sha256 is not that of its leaves');
    }
    const says = 'what is held of this day has another digest than was certified';
    for (const day of differing) await tell('day', day, says);
  }
  return {
    month,
    issue: held.issue,
    certified_at: held.certifiedAt,
    records: certificate?.records ?? 0,
    digest: held.digest,
    /** Of the certificate's file: what to keep elsewhere. */
    certificate_sha256: sha256(canonicalFile(held.text)),
    /** Records of the month that were observed only after it was certified. */
    later,
    /** As it says itself: how many days it has; those that were lost; those of which not all is held, these included. */
    days: days.length,
    lost_days: certificate?.lost_days ?? [],
    days_not_held: certificate?.days_not_held ?? [],
    /** The next sync makes them. */
    files_missing: files.missing,
  };
}

/** Where a row's certificate contradicts its columns, its own sums, or what it names. */
async function* contradictions(
  { tx, of, held, all }: Checking,
  certificate: Certificate | null,
): AsyncGenerator<string> {
  if (certificate === null) {
    yield `it is no certificate of the form ${certificateFormat}`;
    return;
  }
  const { days, previous, journal } = certificate;
  const expected: [string, unknown, unknown][] = [
    ['project', certificate.project, of.projectId],
    ['resource', certificate.resource, of.resource],
    ['issue', certificate.issue, held.issue],
    ['month', certificate.month, held.month.slice(0, 7)],
    ['certified_at', Date.parse(certificate.certified_at), Date.parse(held.certifiedAt)],
    ['digest', certificate.digest, held.digest],
    ['leaves_sha256', certificate.leaves_sha256, held.leavesSha256],
  ];
  for (const [name, says, is] of expected) {
    if (says !== is) yield `its ${name} is not that of its row`;
  }
  if (monthDigest(days) !== certificate.digest) yield 'its digest is not that of its days';
  const sum = days.reduce((records, day) => records + day.records, 0);
  if (sum !== certificate.records) yield 'its number of records is not that of its days';
  // Each names the one before it by digest: one that was altered or deleted is told of by the next.
  const before = all.filter(({ month }) => month === `${previous?.month}-01`);
  if (
    previous !== null &&
    !before.some(({ text }) => sha256(canonicalFile(text)) === previous.sha256)
  ) {
    yield `the certificate of ${previous.month}${before.length === 0 ? ', which it names, is not held' : ' is not the one that it names'}`;
  }
  const books = await booksOf(tx, of, held.month, held.certifiedAt);
  if (canonicalFile(JSON.stringify(books)) !== canonicalFile(JSON.stringify(certificate.books))) {
    yield 'the books that it names are not those that are held';
  }
  if (journal !== null && !(await isHeadHeld(tx, of.projectId, journal))) {
    yield `entry ${journal.no} of the journal, which it names, is not held`;
  }
}

function differingDays(now: MonthDigest, certified: DayDigest[]): ReadonlySet<Day> {
  const digestOf = new Map(certified.map(({ day, digest }) => [day, digest]));
  return new Set(
    now.days.filter(({ day, digest }) => digestOf.get(day) !== digest).map(({ day }) => day),
  );
}

async function digestOfLeaves(path: string, days: DayDigest[]): Promise<string> {
  const digest = createMonthDigest(days.map(({ day }) => day));
  for await (const line of linesOf(path)) {
    const leaf = readLeafLine(line);
    if (leaf !== null) digest.add(leaf);
  }
  return digest.end().digest;
}

/**
 * A file that says otherwise than its row is told of, and which of the two what is held agrees with: one of them was
 * altered. `now` is what is held, as digests. Missing files are no finding; leaves count if they are those certified.
 */
async function checkFiles(
  { of, held, folder }: Checking,
  now: MonthDigest,
  tell: (says: string) => Promise<void> | void,
): Promise<{ missing: string[]; leavesPath: string | null }> {
  const checked = { missing: [] as string[], leavesPath: null as string | null };
  if (folder === null) return checked;
  const look = async (
    kind: FileKind,
    wrong: (path: string) => Promise<string | null>,
  ): Promise<void> => {
    const name = fileName({ resource: of.resource, month: held.month, issue: held.issue }, kind);
    const says = await wrong(join(folder, of.projectId, name)).catch(
      (error: unknown) => `it cannot be read: ${causeChain(error)}`,
    );
    if (says === notThere) checked.missing.push(name);
    else if (says !== null) await tell(`${name}: ${says}`);
  };
  await look('certificate.json', async (path) => {
    const text = await textOfFile(path);
    if (text === null) return notThere;
    if (text === canonicalFile(held.text)) return null;
    const byFile = text.includes(`"digest":"${now.digest}"`) ? 'the file' : 'neither';
    return `it is not the certificate in the database; what is held agrees with ${now.digest === held.digest ? 'the database' : byFile}`;
  });
  await look('leaves.txt', async (path) => {
    const digest = (await digestOfFile(path))?.sha256 ?? null;
    if (digest === null) return notThere;
    if (digest !== held.leavesSha256) return 'its digest is not the one in the certificate';
    checked.leavesPath = path;
    return null;
  });
  return checked;
}

const notThere = 'it is not there';
