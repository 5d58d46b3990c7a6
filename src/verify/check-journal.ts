// What is held against the journal: every content that was stored, and no other; when it was observed; the ledger, its
// pages, its rejects, its certificates. And the journal against itself, and against heads that were kept elsewhere: who
// makes the whole chain anew is found out by a head that left the machine before.
import { windowAt } from '../day.ts';
import { codeOf } from '../errors.ts';
import { isListed, wholeList, type ProjectId, type Resource } from '../model.ts';
import type { Tx } from '../store/db.ts';
import {
  readContentDifferences,
  readMissingDifferences,
  readMovedDifferences,
  type ContentDifference,
  type MomentDifference,
} from '../store/journal/check-contents.ts';
import {
  certificateDifferences,
  evidenceDifferences,
  lastLookedAfter,
  ledgerDifferences,
  ledgerOvertaken,
  readPageDifferences,
  rejectDifferences,
  unaccountedDays,
  type LedgerSaid,
} from '../store/journal/check-ledger.ts';
import {
  brokenEntries,
  chainEnds,
  headsHeld,
  newestHead,
  type Head,
} from '../store/journal/heads.ts';
import { monthsToCertify } from '../store/certificates.ts';
import { archivedOf, type Archived } from '../store/record-tables.ts';
import type { Finding, Report } from './finding.ts';

/** Everything of a resource that the journal tells of. */
export async function checkAgainstJournal(
  tx: Tx,
  projectId: ProjectId,
  resource: Resource,
  report: Report,
): Promise<void> {
  try {
    for (const of of archivedOf(projectId, resource)) await checkContents(tx, of, report);
    if (resource !== 'transactions') await checkRejects(tx, { projectId, resource }, report);
    if (!isListed(resource)) return;
    await checkLedger(tx, { projectId, resource }, report);
    await checkPages(tx, { projectId, resource }, report);
    await checkEvidence(tx, { projectId, resource }, report);
    await checkCertified(tx, { projectId, resource }, report);
  } catch (error) {
    // SQLSTATE class 22: a body that is no JSON any more, or says what it never says.
    if (codeOf(error)?.startsWith('22') !== true) throw error;
    const says = `the journal of ${resource} cannot be read: it was altered`;
    await report({ kind: 'journal', when: null, id: null, says });
  }
}

type Of = { projectId: ProjectId; resource: Resource };

async function checkContents(tx: Tx, of: Archived, report: Report): Promise<void> {
  let open: ContentDifference[] = [];
  const tellContents = async (id: string, rows: ContentDifference[]): Promise<void> => {
    const gone = rows.filter((one) => one.no !== null);
    const extra = rows.filter((one) => one.no === null);
    // What no slice shows is under no day.
    const when = isListed(of.resource) ? (gone[0]?.day ?? null) : null;
    if (extra.length === 0) {
      const says = `${listed(gone)} was archived${entryOf(gone[0])}, and is no longer held`;
      await report({ kind: 'missing', when, id, says });
    } else if (gone.length === 0) {
      const says = `${listed(extra)} is held, and nothing in the journal stored it`;
      await report({ kind: 'extra', when, id, says });
    } else {
      const says = `archived${entryOf(gone[0])} was ${listed(gone)}, held is ${listed(extra)}`;
      await report({ kind: 'altered', when, id, says });
    }
  };
  const moment = (column: string, id: string, held: string | null, said: string | null) =>
    report({
      kind: 'altered',
      when: null,
      id,
      says: `${column} is ${held ?? 'not set'}, and ${said ?? 'nothing'} is in the journal`,
    });
  /** All of one record. Of a record the first finding is told: what its contents are says more than its moments. */
  const tell = async (): Promise<void> => {
    const rows = open;
    open = [];
    const alone = rows.filter((one) => one.is_alone);
    const [first] = alone;
    if (first !== undefined) await tellContents(first.id, alone);
    const displaced = rows.find((one) => one.is_displaced);
    if (first === undefined && displaced !== undefined) {
      const says = `${listed([displaced])} is in force by entry ${displaced.no} of ${placeOf(displaced)}, and is held as an earlier version`;
      await report({ kind: 'altered', when: null, id: displaced.id, says });
    }
    for (const { id, first_seen_held: firstSeen, day_held: held, observed_at: at, day } of rows) {
      if (firstSeen !== null) await moment('first_seen_at', id, firstSeen, at);
      if (held !== null) await moment('slice_day', id, held, day === wholeList ? null : day);
    }
  };
  await readContentDifferences(tx, of, async (rows) => {
    for (const row of rows) {
      if (open[0]?.id !== row.id) await tell();
      open.push(row);
    }
  });
  await tell();
  const moments =
    (column: string) =>
    async (rows: MomentDifference[]): Promise<void> => {
      for (const { id, held, said } of rows) await moment(column, id, held, said);
    };
  await readMissingDifferences(tx, of, moments('missing_since'));
  if (isListed(of.resource)) await readMovedDifferences(tx, of, moments('slice_day'));
}

const shownAtMost = 3;

/** `a content observed at … (raw_sha256 …)`, for several all of them. */
function listed(contents: ContentDifference[]): string {
  const named = contents
    .slice(0, shownAtMost)
    .map(({ observed_at: at, sha256 }) => `a content observed at ${at} (raw_sha256 ${sha256})`);
  if (contents.length > named.length) named.push(`${contents.length - named.length} more`);
  return named.join(' and ');
}

const entryOf = (one: ContentDifference | undefined): string =>
  one === undefined ? '' : ` by entry ${one.no} of ${placeOf(one)}`;

const placeOf = ({ owner, day }: { owner: string | null; day: string | null }): string =>
  `${day ?? ''}${ofOwner(owner ?? '')}`;

async function checkLedger(tx: Tx, of: Of, report: Report): Promise<void> {
  const tell = (when: string, owner: string, says: string): Promise<void> | void =>
    report({
      kind: 'ledger',
      when,
      id: null,
      says: `${owner === '' ? '' : `of ${owner}: `}${says}`,
    });
  for (const { owner, day, held, said } of await ledgerDifferences(tx, of)) {
    if (held === null)
      await tell(day, owner, `the day is gone from the ledger, which said ${shown(said)}`);
    else if (said === null)
      await tell(day, owner, 'the day is in the ledger, and nothing in the journal entered it');
    else await tell(day, owner, differing(held, said));
  }
  for (const { owner, day, no, was, said } of await ledgerOvertaken(tx, of)) {
    const says = was === null ? 'the day was gone from the ledger' : differing(was, said ?? {});
    await tell(day, owner, `until entry ${no} was written: ${says}`);
  }
  for (const { owner, day } of await unaccountedDays(tx, of)) {
    await tell(day, owner, 'nothing in the ledger accounts for the day');
  }
}

const differing = (held: NonNullable<LedgerSaid>, said: NonNullable<LedgerSaid>): string =>
  Object.keys(held)
    .filter((name) => held[name] !== said[name])
    .map((name) => `${name} was ${value(held[name])}, and ${value(said[name])} is in the journal`)
    .join('; ');

const shown = (said: LedgerSaid): string =>
  ['state', 'proof', 'shown_total'].map((name) => `${name} ${value(said?.[name])}`).join(', ');

const value = (given: string | number | null | undefined): string => String(given ?? 'not set');

/** What became of something that the journal tells of, as the end of a sentence. */
function whatBecame({ is_held: isHeld, is_said: isSaid }: Difference, how: string): string {
  if (!isHeld) return `was ${how}, and is no longer held`;
  return isSaid ? `is not as it was ${how}` : `is held, and nothing in the journal ${how} it`;
}

type Difference = { is_held: boolean; is_said: boolean };

const ofOwner = (owner: string): string => (owner === '' ? '' : ` of ${owner}`);

async function checkPages(tx: Tx, of: Of, report: Report): Promise<void> {
  await readPageDifferences(tx, of, async (rows) => {
    for (const { owner, day, walk, page, held, said } of rows) {
      const what = whatBecame({ is_held: held !== null, is_said: said !== null }, 'entered');
      const says = `page ${page} of walk ${walk}${ofOwner(owner)} ${what}`;
      await report({ kind: 'ledger', when: day, id: null, says });
    }
  });
}

async function checkEvidence(tx: Tx, of: Of, report: Report): Promise<void> {
  for (const kind of ['reading', 'books'] as const) {
    for (const one of await evidenceDifferences(tx, of, kind)) {
      const name = kind === 'reading' ? `reading ${one.no}` : `row ${one.no} of the books`;
      const says = `${name}${ofOwner(one.owner)} ${whatBecame(one, 'added')}`;
      await report({ kind: 'ledger', when: one.day, id: null, says });
    }
  }
}

async function checkRejects(tx: Tx, of: Of, report: Report): Promise<void> {
  for (const one of await rejectDifferences(tx, of)) {
    const kind = !one.is_held ? 'missing' : !one.is_said ? 'extra' : 'altered';
    const says = `reject ${one.sha256} ${whatBecame(one, 'kept')}`;
    await report({ kind, when: one.day, id: null, says });
  }
}

const dueForMs = 86_400_000;

async function checkCertified(tx: Tx, of: Of, report: Report): Promise<void> {
  if (!isListed(of.resource)) return;
  const { projectId, resource } = of;
  for (const one of await certificateDifferences(tx, { projectId, resource })) {
    const says = `certificate ${one.issue} of the month ${whatBecame(one, 'issued')}`;
    await report({ kind: 'certificate', when: one.day.slice(0, 7), id: null, says });
  }
  const at = await lastLookedAfter(tx, projectId);
  if (at === null) return;
  // What was over a day before somebody looked should have been certified then.
  const overBy = Date.parse(at) - dueForMs;
  const due = await monthsToCertify(
    tx,
    projectId,
    windowAt(overBy).from,
    new Date(overBy).toISOString(),
  );
  for (const { month } of due.filter((one) => one.resource === resource)) {
    const says = 'the month is over, and no certificate says what was held of it then';
    await report({ kind: 'certificate', when: month.slice(0, 7), id: null, says });
  }
}

export type ChainsVerified = {
  project: ProjectId;
  /** The newest head; null before there is one. */
  head: Head | null;
  /** Heads kept elsewhere that the chain passes through. */
  passed: string[];
  findings: number;
};

/** `kept` are heads in lower-case hex. */
export async function checkChains(
  tx: Tx,
  projectId: ProjectId,
  kept: readonly string[],
  onFinding: (finding: Finding) => Promise<void> | void,
): Promise<ChainsVerified> {
  let findings = 0;
  const tell = (when: string | null, says: string): Promise<void> | void => {
    findings += 1;
    return onFinding({ kind: 'journal', project: projectId, resource: null, when, id: null, says });
  };
  for (const { no, resource, owner, day } of await brokenEntries(tx, projectId)) {
    await tell(
      day,
      `entry ${no}, of ${resource}${ofOwner(owner)}, does not follow from the entry before it: it was altered, or one is gone`,
    );
  }
  const { said, is } = await chainEnds(tx, projectId);
  if (said?.no !== is?.no || said?.head !== is?.head) {
    await tell(null, `the journal does not end with entry ${said?.no ?? 0}, as its chain says`);
  }
  for (const list of ['orders', 'nft_classes'] as const) {
    if (said === null || is === null || said[list] === is[list]) continue;
    await tell(
      null,
      `the chain counts ${said[list]} of ${list}, and its entries stored ${is[list]}`,
    );
  }
  const passed = await headsHeld(tx, projectId, kept);
  for (const [first = '', ...others] of runsWithout(kept, new Set(passed))) {
    const last = others.at(-1);
    const missing =
      last === undefined
        ? `the head ${first} was kept elsewhere, and no entry of this journal has it`
        : `${others.length + 1} heads, from ${first} to ${last}, were kept elsewhere, and no entry of this journal has them`;
    await tell(null, `${missing}: it was made anew, or is an older one`);
  }
  return { project: projectId, head: await newestHead(tx, projectId), passed, findings };
}

/**
 * What is not among `passed`, in the runs in which it was kept: a backup that was restored lacks every head since, which
 * is one thing to tell.
 */
function runsWithout(kept: readonly string[], passed: ReadonlySet<string>): string[][] {
  const runs: string[][] = [[]];
  for (const head of kept) {
    if (!passed.has(head)) runs.at(-1)?.push(head);
    else if (runs.at(-1)?.length !== 0) runs.push([]);
  }
  return runs.filter((run) => run.length > 0);
}
