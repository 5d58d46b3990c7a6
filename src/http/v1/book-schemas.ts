// The archive's own books as `/archive/v1` gives them: coverage, sums, certificates, runs, rejects, operations watched.
import * as z from 'zod';
import type {
  Balance,
  CoverageDay,
  MonthCertificate,
  Reject,
  Run,
  WatchedOperation,
} from '../../query/book-types.ts';
import type { Summary } from '../../query/types.ts';
import * as kind from './answer-schemas.ts';
import { row, type RowShape } from './answer-schemas.ts';

const { text, textOrNull, whole, wholeOrNull, day, time, timeOrNull } = kind;

export const project = row<{ project: string }>('Project', 'A project you may read', {
  project: text,
});

export const coverageDayShape: RowShape<CoverageDay> = {
  project: text,
  resource: kind.listedResource,
  owner: text.describe('The owner whose classes these are; empty for the whole list'),
  day,
  state: kind.state,
  proof: kind.proof,
  why: kind.why.nullable().describe('What keeps it from being proved; null: nothing'),
  provedAt: timeOrNull,
  walkedAt: timeOrNull.describe('When it was last read to its end'),
  platformTotal: wholeOrNull.describe('What the platform said there is'),
  shownTotal: wholeOrNull.describe('What the last walk was shown'),
  unresolved: whole.describe('Orders still pending'),
  rejected: whole.describe(
    'Records without a usable id, kept as bytes, but for those that a whole walk a day later was without',
  ),
  deadlineAt: time,
  reservations: kind.reservations,
  isHeld: kind.isHeld,
  isSettled: kind.isSettled,
  dueAt: timeOrNull.describe('When it is looked at next; null: never again'),
  lastError: textOrNull,
};
export const coverageDay = row<CoverageDay>(
  'CoverageDay',
  'What is held of a UTC day and how sure that is',
  coverageDayShape,
);

export const balance = row<Balance>(
  'Balance',
  'The newest books of a list: what the platform counts of all days that are over, beside what its lists showed',
  {
    project: text,
    resource: kind.listedResource,
    owner: text.describe('The owner whose classes are counted; empty for the whole list'),
    firstDay: day.describe('The first day that is counted'),
    lastDay: day.describe('The last one'),
    askedAt: time,
    total: wholeOrNull.describe('Null where it gives no total'),
    pending: wholeOrNull.describe(
      'Of them, orders by status, as the next ones; null of classes, and where the status is of no use',
    ),
    succeeded: wholeOrNull,
    failed: wholeOrNull,
    shown: wholeOrNull.describe(
      'Distinct records that the newest readings of these days showed; null where a day was not read yet',
    ),
    balance: z
      .enum(['more', 'equal', 'less or unknown'])
      .describe('More than was shown is not believed: the days are read again'),
    more: z
      .array(z.object({ from: day, to: day, counted: wholeOrNull, shown: whole }))
      .describe('The parts that do not balance, first and last day included'),
    moreSince: timeOrNull.describe('Since when there have been such parts'),
  },
);

export const summary = row<Summary>('Summary', 'How one list of one project stands', {
  project: text,
  resource: kind.listedResource,
  records: whole.describe('Held'),
  oldestDay: day.nullable(),
  newestDay: day.nullable(),
  days: z
    .object({ open: whole, walked: whole, sealed: whole, final: whole, lost: whole })
    .describe('Days by state'),
  held: whole.describe('Days of which all is held'),
  settled: whole.describe('Of them, days with nothing pending'),
  unresolved: whole,
  rejected: whole,
  nextDeadlineAt: timeOrNull,
});

export const certificate = row<MonthCertificate>(
  'MonthCertificate',
  'What is certified of a month that has left the window',
  {
    project: text,
    resource: kind.listedResource,
    month: day.describe('Its first day'),
    certifiedAt: time.describe('The instant whose contents are certified: an `as_of` to read them'),
    records: whole,
    digest: kind.sha256.describe('The month’s digest'),
    certificateJson: kind.json.describe('The certificate itself: every day with its digest'),
  },
);

export const run = row<Run>('Run', 'One pass of the worker over what was due', {
  project: text,
  runId: text,
  startedAt: time,
  endedAt: timeOrNull.describe('Null while it goes on, or where it was cut off'),
  outcome: textOrNull,
  requests: whole,
  slicesDone: whole,
  recordsShown: whole,
  recordsNew: whole,
  recordsChanged: whole,
  recordsRejected: whole,
  lastError: textOrNull.describe('Why something due was not done'),
});

export const reject = row<Reject>('Reject', 'A record without a usable id, in no list', {
  project: text,
  resource: kind.anyResource,
  owner: text.describe('The owner whose list showed it; empty for the whole list'),
  day: day.nullable().describe('The day that was asked for'),
  reason: text,
  seenAt: time,
  sha256: kind.sha256.describe('Of its bytes, which /rejects/{resource}/{sha256} gives'),
  byteCount: whole,
});

export const watchedOperation = row<WatchedOperation>(
  'WatchedOperation',
  'An operation whose results are asked for',
  {
    project: text,
    operationId: text,
    apiVersion: kind.apiVersion.nullable().describe('The one lookup that is asked; null: both'),
    createdOn: day.nullable(),
    addedAt: time,
    state: z.enum(['open', 'done', 'lost']),
    foundBy: z.array(kind.apiVersion),
    status: wholeOrNull.describe('The final status: 1 succeeded, 2 failed'),
    hasCertificateFile: kind.truth,
    deadlineAt: timeOrNull,
    dueAt: timeOrNull.describe('When it is asked for next'),
    attempts: whole,
    lastError: textOrNull,
  },
);
