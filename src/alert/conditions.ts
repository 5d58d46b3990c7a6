// From what the store says to what somebody should hear of: a list of conditions, each a fixed sentence with names and
// counts. Pure. No record's contents, no address, nothing the platform said: what is told leaves the house (P10).
import { cliffOf } from '../day.ts';
import { wholeList, type AlertKind, type ClockDisagreement, type Instant } from '../model.ts';
import type { MonthInputs, OperationInputs, AlertInputs } from '../store/alerts/alert-inputs.ts';
import { absenceProves } from '../sync/policy.ts';
import type { FileTrouble } from '../sync/worker.ts';
import { clockText, counted, moment, monthName, named, subjectName } from './words.ts';

export type Condition = {
  kind: AlertKind;
  /** What it is about: `orders 2026-03`, `orders.limit`; '' for the project as a whole. */
  subject: string;
  text: string;
};

/** What this process knows beyond the store. */
export type ProcessState = {
  now: Instant;
  /** A run is in progress: what is read belongs to it. */
  isRunning: boolean;
  /** The ticks of its schedule do not come. */
  isOverdue: boolean;
  /** For how long this process has been looking after the project, milliseconds. */
  watchedForMs: number;
  /** Runs of this process in a row that did not do all that was due. */
  failedInARow: number;
  /** The name of the machine it runs on. */
  machine: string;
  /** Clocks that are more than five minutes apart, and for how long; null: they agree, or nobody asks here. */
  clocks: (ClockDisagreement & { forMs: number }) | null;
  /** What keeps its files from being written. */
  files: readonly FileTrouble[];
  /** How the last export on schedule ended; null: this process knows nothing of it. */
  exportEnd: ExportEnd | null;
};

export type ExportEnd =
  /** `late`: none has ended for a day longer than the schedule says. */
  | { trouble: 'failed' | 'late' | null }
  /** When it was due nobody made it, and it was made up. */
  | { trouble: 'missed'; dueAt: Instant };

/** Attempts from which a slice fails repeatedly: the fifth comes about a quarter of an hour after the first. */
export const failingFrom = 5;
/** Today's list is read at every tick, and what fails is asked again within the hour: longer than that is no pause. */
export const silenceMs = 75 * 60_000;
/** An operation that was just given is not late, however near its deadline: most are final within minutes. */
export const operationPatienceMs = 60 * 60_000;
/** So long before its deadline a month is worth an alert for what is not proved of it. */
export const warnedBeforeMs = 72 * 60 * 60_000;
/** So many failed runs in a row are no accident. */
export const runsInARow = 3;

export function conditionsOf(inputs: AlertInputs, watch: ProcessState): Condition[] {
  const none = { count: 0, first: [] };
  const months = inputs.months.map((month) =>
    isUnused(inputs, month.resource) ? { ...month, unproved: none, failing: none } : month,
  );
  return [
    ...months.flatMap((month) => ofMonth(month, watch.now)),
    ...inputs.operations.flatMap((month) => ofOperations(month, watch.now)),
    ...ofClocks(watch),
    ...inputs.missing.map(({ resource, owner, day, count }) => ({
      kind: 'records_missing' as const,
      subject: subjectName({ resource, owner }, day),
      text: `${subjectName({ resource, owner }, day)}: the platform no longer shows ${counted(count, 'record')} that it showed before. What is archived stays.`,
    })),
    ...inputs.rejects.map(({ resource, count }) => ({
      kind: 'rejects' as const,
      subject: resource,
      text: `${resource}: ${counted(count, 'record')} without a usable id, too long or no UTF-8, kept as ${count === 1 ? 'a reject' : 'rejects'} with the reason.`,
    })),
    ...inputs.changedFacts.map(({ fact, from, to }) => ({
      kind: 'fact_changed' as const,
      subject: fact,
      text: `The platform behaves differently than before: ${fact} was ${from} and is ${to} now.`,
    })),
    ...ofExport(watch.exportEnd),
    ...watch.files.map(({ kind, text }) => ({ kind, subject: '', text: `${text}.` })),
    ...ofRuns(inputs, watch),
  ];
}

function ofMonth(month: MonthInputs, now: Instant): Condition[] {
  const subject = monthName(month, month.month);
  const found: Condition[] = [];
  const add = (kind: AlertKind, text: string): void =>
    void found.push({ kind, subject, text: `${subject}: ${text}` });
  const { unproved, failing, lost, finalUnproved } = month;
  // An owner's whole list is no day of the calendar: it has no deadline.
  if (unproved.count > 0 && month.month !== wholeList) {
    if (now >= month.deadlineAt) {
      add(
        'deadline_missed',
        `the deadline of ${moment(month.deadlineAt)} has passed and ${named(unproved, 'is', 'are')} without proof. The platform forgets this month at ${moment(cliffOf(month.month))}.`,
      );
    } else if (now >= month.deadlineAt - warnedBeforeMs) {
      add(
        'deadline_at_risk',
        `${named(unproved, 'is', 'are')} still without proof, to be done by ${moment(month.deadlineAt)}.`,
      );
    }
  }
  // Around its end no answer about a month proves anything: what fails then is no news, what has no proof is told
  // above.
  const mayStillProve =
    month.month === wholeList || now < month.deadlineAt || absenceProves(month.month, now);
  if (failing.count > 0 && mayStillProve) {
    add(
      'proof_fails',
      `${named(failing, 'was', 'were')} tried ${failingFrom} times or more and not done. \`outlast status\` gives the reason.`,
    );
  }
  // P7: told to whoever listens, and said in every view of coverage for ever.
  if (lost.count > 0) {
    add(
      'day_lost',
      `${named(lost, 'is', 'are')} lost: the month left the window before ${lost.count === 1 ? 'it was' : 'they were'} read.`,
    );
  }
  if (finalUnproved.count > 0) {
    add(
      'day_unproved',
      `${named(finalUnproved, 'was', 'were')} read before the month left the window, and never proved.`,
    );
  }
  return found;
}

/** Clocks are set right, and machines wake up: what has lasted so long needs a person. */
export const clockPatienceMs = 60 * 60_000;

const ofClocks = ({ clocks, machine }: ProcessState): Condition[] =>
  clocks === null || clocks.forMs < clockPatienceMs
    ? []
    : [{ kind: 'clock_disagrees', subject: machine, text: clockText(machine, clocks) }];

function ofExport(end: ExportEnd | null): Condition[] {
  const failed = (text: string): Condition[] => [{ kind: 'export_failed', subject: '', text }];
  if (end === null || end.trouble === null) return [];
  if (end.trouble === 'missed') {
    return failed(
      `The export due at ${moment(end.dueAt)} was not made then. It was made up when the service started.`,
    );
  }
  return failed(
    end.trouble === 'failed'
      ? 'The archive was not exported as scheduled. The log says why.'
      : 'No export has ended for a day longer than its schedule says: one may hang.',
  );
}

function ofOperations(
  { month, open, deadlineAt, lost }: OperationInputs,
  now: Instant,
): Condition[] {
  const subject = `transactions ${month.slice(0, 7)}`;
  const found: Condition[] = [];
  if (open > 0 && deadlineAt !== null) {
    const are = `${counted(open, 'operation')} ${open === 1 ? 'has' : 'have'} no final result`;
    const text =
      now >= deadlineAt
        ? `the deadline of ${moment(deadlineAt)} has passed and ${are}.`
        : `${are} yet, and should by ${moment(deadlineAt)}.`;
    found.push({ kind: 'operation_at_risk', subject, text: `${subject}: ${text}` });
  }
  // P7: told to whoever listens, and named for ever.
  if (lost > 0) {
    const are = `${counted(lost, 'operation')} ${lost === 1 ? 'is' : 'are'} lost`;
    const text = `${are}: the month left the platform's window before a final result was found. \`outlast status\` names ${lost === 1 ? 'it' : 'them'}.`;
    found.push({ kind: 'operation_lost', subject, text: `${subject}: ${text}` });
  }
  return found;
}

function ofRuns(inputs: AlertInputs, watch: ProcessState): Condition[] {
  const { project, contacts, lastRead, lastOutcomes } = inputs;
  const failed = (text: string, subject = ''): Condition[] => [
    { kind: 'run_failed', subject, text },
  ];
  if (watch.isOverdue) {
    return failed(
      'No run has begun for three times as long as OUTLAST_SCHEDULE says. Look at the clock of this machine, and restart the service.',
    );
  }
  if (project === null) {
    return watch.failedInARow < runsInARow
      ? []
      : failed(
          `The last ${watch.failedInARow} runs failed before anything was archived. The log says why.`,
        );
  }
  if (project.parked) {
    return [
      {
        kind: 'parked',
        subject: '',
        text: 'The platform refused the key. It is asked again hourly, at once under another key, or by `outlast sync`.',
      },
    ];
  }
  if (
    lastOutcomes.length >= runsInARow &&
    lastOutcomes.slice(0, runsInARow).every((outcome) => outcome === 'failed')
  ) {
    return failed(`The last ${runsInARow} runs failed. The log says why.`);
  }
  // A run in progress has had no time yet before it began, and may be at one resource for hours.
  const begun = watch.isRunning ? watch.now - watch.watchedForMs : -Infinity;
  const reads = lastRead
    .filter(({ resource }) => !isUnused(inputs, resource))
    .map(({ resource, at }) => ({ resource, at: at ?? project.addedAt }));
  const silent = reads.filter(({ at }) => watch.now - Math.max(at, begun) >= silenceMs);
  const isBusy = watch.isRunning && silent.length < reads.length;
  // Each by itself: what is well says nothing of what is not.
  const down = contacts.flatMap(({ resource, state, since }): Condition[] => {
    const endangers = endangeredBy(inputs, resource);
    if (state === 'refused') {
      const text = `The platform refuses ${resource} to the key since ${moment(since)}. They are asked for again hourly, at once under another key, or by \`outlast sync\`.${endangers}`;
      return [{ kind: 'parked', subject: resource, text }];
    }
    const at = Math.min(since, reads.find((read) => read.resource === resource)?.at ?? since);
    if (state !== 'fails' || watch.now - at < silenceMs) return [];
    return failed(nothingRead(resource, at) + endangers, resource);
  });
  const isTold = new Set(down.map(({ subject }) => subject));
  const unread = silent.filter(({ resource }) => !isBusy && !isTold.has(resource));
  return [
    ...down,
    ...unread.flatMap(({ resource, at }) =>
      failed(nothingRead(resource, at) + endangeredBy(inputs, resource), resource),
    ),
  ];
}

/** Nobody asks for it any more: what is not read of it is no trouble. */
const isUnused = ({ contacts }: AlertInputs, resource: string): boolean =>
  contacts.some((one) => one.resource === resource && one.state === 'unused');

const nothingRead = (resource: string, since: Instant): string =>
  `Nothing of ${resource} has been read since ${moment(since)}. \`outlast status\` and the log say why.`;

/** What is forgotten first while nothing is read. */
function endangeredBy({ months }: AlertInputs, resource: string): string {
  const unproved = months.filter(
    (month) => month.resource === resource && month.unproved.count > 0 && month.month !== wholeList,
  );
  const [first] = unproved;
  if (first === undefined) return '';
  const days = unproved.reduce((sum, { unproved: { count } }) => sum + count, 0);
  return ` ${counted(days, 'day')} of them ${days === 1 ? 'is' : 'are'} without proof, and the platform forgets ${first.month.slice(0, 7)} at ${moment(cliffOf(first.month))}.`;
}
