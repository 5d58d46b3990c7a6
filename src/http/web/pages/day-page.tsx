// One day of one list: both counts, what the proof rests on, what is pending, missing or changed, and every entry that
// was ever written of it. What an auditor asks first.
import type { ComponentChildren } from 'preact';
import { addDays, dayOf, isDay } from '../../../day.ts';
import { listedResources, type ProjectId } from '../../../model.ts';
import type { Held } from '../../../query/lists.ts';
import { isForGood, markOf } from '../../../query/day-marks.ts';
import type { Counted, DayEntry, DayReport } from '../../../query/reports.ts';
import { projectFor } from '../../v1/route.ts';
import { differences, readRaw, type Difference } from '../json-text.ts';
import { Cut, Facts, Foreign, Said, Table, Tile, Time } from '../parts.tsx';
import { linkTo, type Made, type Page, type View } from '../view.ts';
import { linkToRecord } from './list-page.tsx';
import { notFoundPage } from './error-page.tsx';

export const dayPage: Page = { path: '/days/:resource/:day', nav: 'overview', read };

async function read(
  view: View,
  { resource: named = '', day = '' }: Record<string, string>,
): Promise<Made> {
  const { t, words, format } = view;
  const resource = listedResources.find((one) => one === named);
  if (resource === undefined || !isDay(day))
    return notFoundPage(view, t('The archive has no such day.'));
  const project = projectFor(view, resource);
  const owner = view.query.get('owner');
  const of = owner === null ? {} : { owner };
  const report = await view.archive.day({ project, resource, day, ...of });
  if (report === null) return notFoundPage(view, t('The archive has no such day.'));
  const changed = await readChanges(view, project, report);
  const title = t('{resource} of {day}', { resource: words.lists[resource], day: format.day(day) });
  return {
    title,
    twin: linkTo(view, `/archive/v1/coverage/${resource}/${day}`, of),
    isLive: true,
    body: (
      <>
        <nav class="pages" aria-label={t('Pages')}>
          <a href={linkTo(view, `/days/${resource}/${addDays(day, -1)}`)}>
            ← {t('The day before')}
          </a>
          <a href={linkTo(view, `/days/${resource}/${addDays(day, 1)}`)}>{t('The day after')} →</a>
        </nav>
        <h1>{title}</h1>
        <Gone view={view} report={report} />
        <Verdict view={view} report={report} />
        <Owners view={view} report={report} />
        <Counts view={view} report={report} />
        <Evidence view={view} report={report} />
        <p>
          <a class="button" href={linkTo(view, `/${resource}`, { from: day, to: day })}>
            {t('The records of this day')}
          </a>
        </p>
        <Parts view={view} report={report} changed={changed} />
      </>
    ),
  };
}

type Of = { view: View; report: DayReport };

/** Before all else: whatever was proved, it is not so any more. */
const Gone = ({ view: { t }, report: { gone } }: Of) =>
  gone === 0 ? null : (
    <p class="notice bad" role="alert">
      <Said
        text={t(
          'Fewer records are held than were shown: {gone:one is|# are} gone from the database. Run `outlast verify`.',
          { gone },
        )}
      />
    </p>
  );

/** The day in one line: how sure it is, and what keeps it from being surer. */
function Verdict({ view, report }: Of) {
  const { t, words } = view;
  const { state, proof, why, lastError } = report;
  const mark = markOf(report);
  const isGrowing = state === 'open' && report.day >= dayOf(view.now);
  return (
    <>
      <p class="lead">
        <strong
          class={isForGood(mark) ? 'bad' : report.isHeld && report.gone === 0 ? 'good' : undefined}
        >
          {isGrowing ? t('today: still growing') : words.states[mark]}
        </strong>
        {proof !== 'none' && ` · ${words.proofs[proof]}`}
        {mark === 'lost'
          ? ` · ${t('it was not read in time')}`
          : why !== null && mark !== 'proved' && !isGrowing && ` · ${words.whys[why]}`}
      </p>
      {lastError !== null && (
        <p class="notice mild">
          {words.fields['lastError']}
          {words.punctuation.colon}
          <Said text={lastError} lang="en" />
        </p>
      )}
    </>
  );
}

function Owners({ view, report }: Of) {
  if (report.owners.length < 2) return null;
  return (
    <p>
      {view.words.fields['owner']}
      {view.words.punctuation.colon}
      {report.owners.map((owner) => (
        <>
          <a
            href={linkTo(view, `/days/${report.resource}/${report.day}`, { owner })}
            aria-current={owner === report.owner ? 'true' : undefined}
          >
            <Foreign text={owner} />
          </a>{' '}
        </>
      ))}
    </p>
  );
}

function Counts({ view: { t, format }, report }: Of) {
  const tile = (value: number | null, name: string) => (
    <Tile value={value === null ? '–' : format.number(value)} name={name} />
  );
  const [newest] = report.readings.items;
  // The month was going, and it proves nothing: it may show all where the one that was judged did not.
  const isOther =
    report.why === 'showed less' && newest?.lacks === 0 && newest.shown === report.shownTotal;
  return (
    <>
      <div class="tiles">
        {tile(report.records, t('held here'))}
        {tile(report.shownTotal, t('shown by the last reading'))}
        {tile(report.platformTotal, t('counted by the platform'))}
        {report.resource === 'orders' && tile(report.unresolved, t('still pending'))}
      </div>
      {isOther && (
        <p class="soft">
          {t(
            'The last reading ended at {time}. Why the day is not proved is judged by the last one that came in time for that.',
            { time: format.time(newest.endedAt) },
          )}
        </p>
      )}
    </>
  );
}

function Evidence({ view: { t, format }, report }: Of) {
  const { walkedAt, proof, provedAt, deadlineAt, dueAt, isSettled } = report;
  const hasDeadline = deadlineAt < '9999' && dueAt !== null && !isSettled;
  const times: [string, string | null, string?][] = [
    [t('Read to its end at'), walkedAt],
    // Kept where a later reading took the proof away.
    [t(proof === 'none' && provedAt !== null ? 'Was proved at' : 'Proved at'), provedAt],
    ...(hasDeadline ? [[t('Should be proved by'), deadlineAt] as [string, string]] : []),
    [t('Looked at next'), dueAt, t('no more')],
  ];
  return (
    <Facts
      of={times.map(([name, at, none = t('never')]) => [name, format.time(at) || none] as const)}
    />
  );
}

type Change = { id: string; at: string | null; fields: Difference[] };

function Parts({ view, report, changed }: Of & { changed: Change[] }) {
  const { t, words, format } = view;
  const { resource } = report;
  const record = (id: string, place = '') => (
    <a class="id" href={linkToRecord(view, resource, id) + place}>
      <Foreign text={id} />
    </a>
  );
  const { missing, changes, rejects, readings, history } = report;
  return (
    <>
      <Part of={missing} title={t('No longer shown by the platform')} view={view}>
        <ul>
          {missing.items.map(({ id, since }) => (
            <li>
              {record(id)} <span class="soft">{format.time(since)}</span>
            </li>
          ))}
        </ul>
      </Part>
      <Part of={rejects} title={t('Records without a usable id')} view={view}>
        <ul>
          {rejects.items.map(({ sha256, reason, seenAt }) => (
            <li>
              <a class="id" href={linkTo(view, `/archive/v1/rejects/${resource}/${sha256}`)}>
                {sha256.slice(0, 16)}…
              </a>{' '}
              <Said text={reason} lang="en" /> <span class="soft">{format.time(seenAt)}</span>
            </li>
          ))}
        </ul>
      </Part>
      <Part
        of={{ count: changes.count, items: changed }}
        title={t('What changed later')}
        view={view}
      >
        <Table
          caption={t('What changed later')}
          columns={[
            { head: t('Record'), isName: true, cell: ({ id }) => record(id, '#history') },
            {
              head: words.fields['changedAt'] ?? '',
              class: 't',
              cell: ({ at }) => <Time at={at} />,
            },
            {
              head: t('What changed'),
              class: 'wide',
              cell: (change) => <Changed view={view} of={change} />,
            },
          ]}
          rows={changed}
        />
        {changes.count > changed.length && (
          <p class="soft">
            {t('There are more: each record’s own history has all of its changes.')}
          </p>
        )}
      </Part>
      <Part of={readings} title={t('Readings')} view={view}>
        <p class="soft">
          {t(
            'Two of them, one from each end of the list and two hours apart, prove the day; a day apart where they show nothing.',
          )}
        </p>
        <Table
          caption={t('Readings')}
          columns={[
            { head: t('Begun at'), class: 't', cell: ({ beganAt }) => format.second(beganAt) },
            { head: t('Ended at'), class: 't', cell: ({ endedAt }) => format.second(endedAt) },
            { head: t('From the'), cell: ({ beginsAt }) => words.ends[beginsAt] },
            { head: t('Records'), class: 'n', cell: ({ shown }) => format.number(shown) },
            {
              head: t('Held or counted, not shown'),
              class: 'n',
              cell: ({ lacks, claims }) => lacks + claims > 0 && format.number(lacks + claims),
            },
          ]}
          rows={readings.items}
        />
      </Part>
      <Part of={history} title={t('What was written, entry by entry')} view={view}>
        <p class="soft">
          {t('Written at: by the clock of the database’s machine, not by the platform’s.')}
        </p>
        <Table
          caption={t('What was written, entry by entry')}
          columns={[
            { head: t('Entry'), class: 'n', cell: ({ entry }) => entry },
            {
              head: words.fields['writtenAt'] ?? '',
              class: 't',
              cell: ({ enteredAt }) => format.second(enteredAt),
            },
            { head: t('What'), cell: (entry) => entryText(view, entry) },
            {
              head: t('Records'),
              class: 'n',
              cell: ({ records }) => records > 0 && format.number(records),
            },
          ]}
          rows={history.items}
        />
      </Part>
    </>
  );
}

/** Changes that are looked into for a page; a day on which more has changed leads to the records' histories. */
const mostChanges = 20;

/**
 * The newest changes, each with the fields that it changed. Of each record single contents are read, for a history may
 * be thousands of them.
 */
async function readChanges(
  { archive }: View,
  project: ProjectId,
  { resource, changes }: DayReport,
): Promise<Change[]> {
  const records = resource === 'orders' ? archive.orders : archive.nftClasses;
  const newest = changes.items.slice(0, mostChanges);
  const ids = [...new Set(newest.map(({ id }) => id))];
  const [now, then] = await Promise.all([
    Promise.all(ids.map((id) => records.get(project, id))),
    Promise.all(newest.map(({ id, observedAt }) => records.get(project, id, { asOf: observedAt }))),
  ]);
  // The newest first: what took the place of a content stands above it, or is what is held now.
  const next = new Map<string, Held | null>(ids.map((id, i) => [id, now[i] ?? null]));
  return newest.map(({ id, observedAt }, i) => {
    const [was, became] = [then[i] ?? null, next.get(id) ?? null];
    const wasInForce = was !== null && Date.parse(was.observedAt) === Date.parse(observedAt);
    if (!wasInForce || became === null) return { id, at: null, fields: [] };
    next.set(id, was);
    return { id, at: became.observedAt, fields: differences(readRaw(was), readRaw(became)) };
  });
}

/** Fields that are named; the record's history has them all. */
const mostFields = 3;

function Changed({ view, of: { at, fields } }: { view: View; of: Change }) {
  const { t } = view;
  if (at === null) return <span class="soft">{t('came late and was never in force')}</span>;
  return (
    <>
      {fields.slice(0, mostFields).map(({ path, was, became }) => (
        <div>
          <code>{path}</code>{' '}
          {was !== null && (
            <del>
              <Cut text={was} />
            </del>
          )}{' '}
          →{' '}
          {became !== null && (
            <ins>
              <Cut text={became} />
            </ins>
          )}
        </div>
      ))}
      {fields.length > mostFields && (
        <span class="soft">
          {t('and {count:one more field|# more fields}', { count: fields.length - mostFields })}
        </span>
      )}
    </>
  );
}

/** A part of which there is something; the long ones are closed at first. */
function Part<Item>(props: {
  view: View;
  of: Counted<Item>;
  title: string;
  children: ComponentChildren;
}) {
  const { view, of, title, children } = props;
  if (of.count === 0) return null;
  const some =
    of.items.length < of.count
      ? view.t('{some} of {of}', { some: of.items.length, of: of.count })
      : view.format.number(of.count);
  return (
    <section>
      <h2>
        {title} <span class="soft">({some})</span>
      </h2>
      {of.items.length > 8 ? (
        <details>
          <summary>{view.t('Show')}</summary>
          {children}
        </details>
      ) : (
        children
      )}
    </section>
  );
}

function entryText({ words, format }: View, entry: DayEntry): string {
  const { kind, state, proof, platformTotal, shownTotal } = entry;
  if (kind !== 'ledger') return words.kinds[kind];
  const parts = [
    state && words.states[state],
    proof && words.proofs[proof],
    platformTotal !== null &&
      shownTotal !== null &&
      `${format.number(shownTotal)} / ${format.number(platformTotal)}`,
  ];
  return parts.filter(Boolean).join(' · ');
}
