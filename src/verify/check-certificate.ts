// One certificate against itself, its files, its neighbour and the archive. The row is what is believed to be certified.
import { join } from 'node:path';
import { causeChain } from '../errors.ts';
import { digestOfFile, linesOf, textOfFile } from '../files.ts';
import type { Day } from '../model.ts';
import { sha256 } from '../platform/canonical.ts';
import { booksOf, type HeldCertificate } from '../store/certificates.ts';
import type { Listed } from '../store/read-held.ts';
import type { Tx } from '../store/db.ts';
import { isHeadHeld } from '../store/journal/heads.ts';
import { bytesOf, certificateFormat, readCertificate, type Certificate } from './certificate.ts';
import { fileName, type FileKind } from './certificate-files.ts';
import {
  createMonthDigest,
  monthDigest,
  readLeafLine,
  type DayDigest,
  type MonthDigest,
} from './digest.ts';
import type { Report } from './finding.ts';
import { compareWithLeaves, leavesInForce } from './leaves.ts';

export type CertificateChecked = {
  /** `yyyy-MM`. */
  month: string;
  /** 1 for the first of the month, 2 for the one that replaces it. */
  issue: number;
  certified_at: string;
  records: number;
  digest: string;
  /** SHA-256 of the certificate's file: what to keep elsewhere. */
  certificate_sha256: string;
  /** Records of the month that were observed only after it was certified. */
  later: number;
  holds: boolean;
  /** Files that are not there; the next sync makes them. */
  files_missing: string[];
};

type CheckingCertificate = {
  tx: Tx;
  of: Listed;
  held: HeldCertificate;
  /** All certificates of the list: the links between them are looked at too. */
  all: readonly HeldCertificate[];
  folder: string | null;
  report: Report;
};

export async function checkCertificate(checking: CheckingCertificate): Promise<CertificateChecked> {
  const { tx, of, held, report } = checking;
  let findings = 0;
  const month = held.month.slice(0, 7);
  const tell: Report = async (finding) => {
    findings += 1;
    await report(finding);
  };
  const contradicts = (says: string): Promise<void> | void =>
    tell({ kind: 'certificate', when: month, id: null, says });

  const certificate = readCertificate(held.text);
  if (certificate === null)
    await contradicts(`it is no certificate of the form ${certificateFormat}`);
  else {
    for (const says of contradictions(of, held, certificate)) await contradicts(says);
    const broken = brokenLink(certificate, checking.all);
    if (broken !== null) await contradicts(broken);
    const books = await booksOf(tx, of, held.month, held.certifiedAt);
    if (bytesOf(JSON.stringify(books)) !== bytesOf(JSON.stringify(certificate.books))) {
      await contradicts('the books that it names are not those that are held');
    }
    if (
      certificate.journal !== null &&
      !(await isHeadHeld(tx, of.projectId, certificate.journal))
    ) {
      await contradicts(
        `entry ${certificate.journal.no} of the journal, which it names, is not held`,
      );
    }
  }

  const days = certificate?.days ?? [];
  const digest = createMonthDigest(days.map(({ day }) => day));
  const { later } = await leavesInForce(tx, of, held.month, held.certifiedAt, (leaf) =>
    digest.add(leaf),
  );
  const now = digest.end();
  const files = await checkFiles(of, held, checking.folder, now, tell);
  const differing = differingDays(now, days);
  if (differing.size > 0 && files.leavesPath !== null) {
    await compareWithLeaves(tx, of, held.certifiedAt, differing, files.leavesPath, tell);
    if ((await digestOfLeaves(files.leavesPath, days)) !== held.digest) {
      await contradicts('its digest is not that of its leaves');
    }
  } else {
    if (differing.size === 0 && now.leavesSha256 !== held.leavesSha256) {
      await contradicts('its leaves_sha256 is not that of its leaves');
    }
    for (const day of differing) {
      const says = 'what is held of this day has another digest than was certified';
      await tell({ kind: 'day', when: day, id: null, says });
    }
  }
  return {
    month,
    issue: held.issue,
    certified_at: held.certifiedAt,
    records: certificate?.records ?? 0,
    digest: held.digest,
    certificate_sha256: sha256(bytesOf(held.text)),
    later,
    holds: findings === 0,
    files_missing: files.missing,
  };
}

/** Where a row's certificate contradicts its columns or its own sums. */
function* contradictions(
  of: Listed,
  held: HeldCertificate,
  certificate: Certificate,
): Generator<string> {
  const { days } = certificate;
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
}

/** Each certificate names the one before it by digest: one that was altered or deleted is told of by the next. */
function brokenLink({ previous }: Certificate, all: readonly HeldCertificate[]): string | null {
  if (previous === null) return null;
  const before = all.filter(({ month }) => month === `${previous.month}-01`);
  if (before.length === 0)
    return `the certificate of ${previous.month}, which it names, is not held`;
  if (before.some(({ text }) => sha256(bytesOf(text)) === previous.sha256)) return null;
  return `the certificate of ${previous.month} is not the one that it names`;
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

type FilesChecked = {
  missing: string[];
  /** Where the leaves are, if they are those that were certified. */
  leavesPath: string | null;
};

/**
 * A file that says otherwise than its row is told of, and which of the two what is held agrees with: one of them was
 * altered. `now` is what is held, as digests. Missing files are no finding.
 */
async function checkFiles(
  of: Listed,
  held: HeldCertificate,
  folder: string | null,
  now: MonthDigest,
  report: Report,
): Promise<FilesChecked> {
  const checked: FilesChecked = { missing: [], leavesPath: null };
  if (folder === null) return checked;
  const month = { resource: of.resource, month: held.month, issue: held.issue };
  const look = async (
    kind: FileKind,
    wrong: (path: string) => Promise<string | null>,
  ): Promise<void> => {
    const name = fileName(month, kind);
    const says = await wrong(join(folder, of.projectId, name)).catch(
      (error: unknown) => `it cannot be read: ${causeChain(error)}`,
    );
    if (says === notThere) checked.missing.push(name);
    else if (says !== null) {
      await report({
        kind: 'file',
        when: held.month.slice(0, 7),
        id: null,
        says: `${name}: ${says}`,
      });
    }
  };
  await look('certificate.json', async (path) => {
    const text = await textOfFile(path);
    if (text === null) return notThere;
    if (text === bytesOf(held.text)) return null;
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
