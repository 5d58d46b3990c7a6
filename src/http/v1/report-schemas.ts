// What is asked by hand (catalogue.ts), as `/archive/v1` gives it: projects, sums, one day, what goes on, what came in,
// settings.
import * as z from 'zod';
import { questions, type CoverageDay } from '../../catalogue.ts';
import type { SettingInForce } from '../../model.ts';
import type {
  DayEntry,
  DayReading,
  DayReport,
  Progress,
  Recent,
} from '../../query/report-types.ts';
import type { Summary } from '../../query/types.ts';
import * as kind from './answer-schemas.ts';
import { row, shapeOf, type RowShape } from './answer-schemas.ts';

const { text, textOrNull, whole, wholeOrNull, day, time, timeOrNull } = kind;

/** Members of an object that has no name of its own. */
const inner = <Item>(shape: RowShape<Item>): z.ZodObject =>
  z.object(row('', '', shape).schema.shape);
const counted = (item: z.ZodObject, more: z.ZodRawShape = {}): z.ZodObject =>
  z.object({ count: whole.describe('How many there are'), ...more, items: z.array(item) });

export const project = row<{ project: string }>('Project', 'A project you may read', {
  project: text,
});

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

const reading = row<DayReading>('DayReading', 'A whole reading of a past day', {
  beginsAt: z
    .enum(['oldest', 'newest'])
    .describe(
      'The end of the list that it began at: two readings, one from either end, prove a day',
    ),
  beganAt: time,
  endedAt: time,
  shown: whole.describe('Distinct records, rejects included'),
  lacks: whole.describe('Records held of the day that it did not show'),
  claims: whole.describe('How many more records a total of it counted than it showed'),
});

const entry = row<DayEntry>('DayEntry', 'An entry of a day’s journal', {
  entry: whole.describe('Its number in the project’s journal'),
  enteredAt: time.describe('On the database’s clock'),
  kind: z
    .enum(['pages', 'contents', 'reading', 'ledger', 'dropped', 'missing', 'returned', 'certified'])
    .describe('docs/verify.md says what each is'),
  records: whole.describe('Records of which it stored a content, or that it marked as missing'),
  state: kind.state
    .nullable()
    .describe('What the day became, as the next ones: null unless `kind` is ledger'),
  proof: kind.proof.nullable(),
  platformTotal: wholeOrNull,
  shownTotal: wholeOrNull,
  unresolved: wholeOrNull,
});

export const dayReport = row<DayReport>(
  'DayReport',
  'All that is known of one day of a list: what coverage says of it, and what that rests on',
  {
    ...(shapeOf(questions.coverage.fields) as RowShape<CoverageDay>),
    owners: z.array(text).describe('Whose lists stand for the day; empty text is the whole list'),
    newestPageAt: timeOrNull.describe('When the newest page held was asked for'),
    dueAt: timeOrNull.describe('When it is looked at next; null: it is final or lost'),
    records: whole.describe('Held under the day; of an owner’s list, the owner’s now'),
    pending: whole.describe('Of them, orders that are pending'),
    missing: counted(inner<{ id: string; since: string }>({ id: text, since: time })).describe(
      'Of them, those that the platform shows no more; the newest 100',
    ),
    changes: counted(
      inner<{ id: string; observedAt: string }>({ id: text, observedAt: time }),
    ).describe('Their earlier contents; the newest 100 by when they were first seen'),
    rejects: counted(
      inner<{ sha256: string; reason: string; seenAt: string }>({
        sha256: kind.sha256,
        reason: text,
        seenAt: time,
      }),
    ).describe('The newest 100'),
    readings: counted(reading.schema).describe('The newest 100, the newest first'),
    history: counted(entry.schema).describe(
      'Its journal: the newest 200 entries, the newest first',
    ),
  },
);

type Inner<Name extends keyof Progress> = NonNullable<Progress[Name]>;

export const progress = row<Progress>('Progress', 'What goes on now', {
  project: text,
  revision: text.describe(
    'Another text whenever something of the ledger, the runs, the alerts or what is held may have changed',
  ),
  run: inner<Inner<'run'>>({
    runId: text,
    startedAt: time,
    slicesDone: whole.describe('Days it has read or counted so far'),
    recordsShown: whole.describe('What the days it has read whole so far have shown'),
  })
    .nullable()
    .describe('The run in progress; null: none is'),
  inHand: z
    .array(
      inner<Inner<'inHand'>[number]>({
        resource: kind.listedResource,
        owner: text,
        day: day.nullable().describe('Null: an owner’s whole list'),
        pages: whole.describe('Pages read of it so far'),
      }),
    )
    .describe('The days that are being read at this moment'),
  slicesDue: whole.describe('Days to be looked at now, those in hand included'),
  slicesWaiting: whole.describe('Days that will be looked at again at all, those due included'),
  nextDueAt: timeOrNull.describe('When the next of the others is due'),
  succeededAt: timeOrNull.describe('When the newest run ended that did all that was due'),
  certificate: inner<Inner<'certificate'>>({
    resource: kind.listedResource,
    month: day.describe('Its first day'),
    certifiedAt: time,
    digest: kind.sha256,
  })
    .nullable()
    .describe('The newest'),
  parked: inner<Inner<'parked'>>({ at: time, reason: textOrNull, askAgainAt: timeOrNull })
    .nullable()
    .describe(
      'Since when the platform refuses the project, and what it said; null while it answers',
    ),
  archiveNow: time.describe('The database’s clock'),
});

export const recent = row<Recent>('Recent', 'A record that came in lately', {
  project: text,
  resource: kind.listedResource,
  id: text,
  day,
  createdAt: timeOrNull,
  firstSeenAt: time,
  status: wholeOrNull.describe('Of an order'),
  amount: kind.decimalOrNull.describe('Of an order, in fen'),
  name: textOrNull.describe('Of a class its name, of an order its account'),
});

export const setting = row<SettingInForce>('Setting', 'A setting in force', {
  name: text,
  value: textOrNull.describe('Of a secret only `set` or `not set`; null: there is none'),
  from: z
    .enum(['environment', 'file', 'demo', 'default'])
    .describe(
      'The process’s environment; the file of settings, or that of a secret; the demo; none of them',
    ),
  isSecret: kind.truth,
  meaning: text,
});
