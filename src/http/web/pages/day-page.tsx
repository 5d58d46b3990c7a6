// One day of one list: both counts, what the proof rests on, what is pending, missing or changed, and every entry that
// was ever written of it. What an auditor asks first.
import type { ComponentChildren } from 'preact';
import { addDays, dayOf, isDay } from '../../../day.ts';
import { listedResources, type ListedResource, type ProjectId } from '../../../model.ts';
import type { Held } from '../../../query/lists.ts';
import { isForGood, markOf } from '../../../query/day-marks.ts';
import type { Counted, DayEntry, DayReport } from '../../../query/reports.ts';
import { projectFor } from '../../v1/route.ts';
import { differences, readRaw, type Difference } from '../json-text.ts';
import { Foreign, Said } from '../layout.tsx';
import { Cut, Facts, markText, Table, Tile, Time } from '../parts.tsx';
import { linkTo, type Made, type Page, type View } from '../view.ts';
import { linkToRecord } from './list-page.tsx';
import { notFoundPage } from './error-page.tsx';

export const dayPage: Page = { path: '/days/:resource/:day', nav: 'overview', read };

async function read(
  view: View,
  { resource: named = '', day = '' }: Record<string, string>,
): Promise<Made> {
  const { words, format } = view;
  const resource = listedResources.find((one) => one === named);
  if (resource === undefined || !isDay(day)) return notFoundPage(view, words.day.noSuch);
  const project = projectFor(view, resource);
  const owner = view.query.get('owner');
  const of = owner === null ? {} : { owner };
  const report = await view.archive.day({ project, resource, day, ...of });
  if (report === null) return notFoundPage(view, words.day.noSuch);
  const changed = await readChanges(view, project, report);
  const title = words.day.title(words.lists[resource], format.day(day));
  return {
    title,
    twin: linkTo(view, `/archive/v1/coverage/${resource}/${day}`, of),
    isLive: true,
    body: (
      <>
        <nav class="pages" aria-label={words.nav.label}>
          <a href={linkTo(view, `/days/${resource}/${addDays(day, -1)}`)}>← {words.day.previous}</a>
          <a href={linkTo(view, `/days/${resource}/${addDays(day, 1)}`)}>{words.day.next} →</a>
        </nav>
        <h1>{title}</h1>
        <Verdict view={view} report={report} />
        <Owners view={view} report={report} />
        <Counts view={view} report={report} />
        <Evidence view={view} report={report} />
        <p>
          <a class="button" href={linkTo(view, `/${resource}`, { from: day, to: addDays(day, 1) })}>
            {words.day.list}
          </a>
        </p>
        <Parts view={view} report={report} resource={resource} changed={changed} />
      </>
    ),
  };
}

type Of = { view: View; report: DayReport };

/** The day in one line: how sure it is, and what keeps it from being surer. */
function Verdict({ view, report }: Of) {
  const { words } = view;
  const { state, proof, why, lastError } = report;
  const mark = markOf(report);
  const isGrowing = state === 'open' && report.day >= dayOf(view.now);
  return (
    <>
      <p class="lead">
        <strong class={isForGood(mark) ? 'bad' : report.isHeld ? 'good' : undefined}>
          {isGrowing ? words.day.growing : markText(view, mark)}
        </strong>
        {proof !== 'none' && ` · ${words.proofs[proof]}`}
        {why !== null && mark !== 'proved' && !isGrowing && ` · ${words.whys[why]}`}
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

function Counts({ view: { words, format }, report }: Of) {
  const tile = (value: number | null, name: string) => (
    <Tile value={value === null ? '–' : format.number(value)} name={name} />
  );
  return (
    <div class="tiles">
      {tile(report.records, words.day.ours)}
      {tile(report.shownTotal, words.day.shown)}
      {tile(report.platformTotal, words.day.platform)}
      {report.resource === 'orders' && tile(report.pending, words.day.pending)}
    </div>
  );
}

function Evidence({ view: { words, format }, report }: Of) {
  const { walkedAt, provedAt, deadlineAt, dueAt, isSettled } = report;
  const hasDeadline = deadlineAt < '9999' && dueAt !== null && !isSettled;
  const times = [
    [words.day.walkedAt, walkedAt],
    [words.day.provedAt, provedAt],
    ...(hasDeadline ? [[words.day.deadline, deadlineAt] as const] : []),
    [words.day.dueAt, dueAt],
  ] as const;
  return <Facts of={times.map(([name, at]) => [name, format.time(at) || words.never])} />;
}

type Change = { id: string; at: string | null; fields: Difference[] };

function Parts({
  view,
  report,
  resource,
  changed,
}: Of & { resource: ListedResource; changed: Change[] }) {
  const { words, format } = view;
  const record = (id: string, place = '') => (
    <a class="id" href={linkToRecord(view, resource, id) + place}>
      <Foreign text={id} />
    </a>
  );
  const { missing, changes, rejects, readings, history } = report;
  return (
    <>
      <Part of={missing} title={words.day.missing} view={view}>
        <ul>
          {missing.items.map(({ id, since }) => (
            <li>
              {record(id)} <span class="soft">{format.time(since)}</span>
            </li>
          ))}
        </ul>
      </Part>
      <Part of={rejects} title={words.day.rejects} view={view}>
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
      <Part of={{ count: changes.count, items: changed }} title={words.day.changes} view={view}>
        <Table
          caption={words.day.changes}
          columns={[
            { head: words.day.record, isName: true, cell: ({ id }) => record(id, '#history') },
            {
              head: words.fields['changedAt'] ?? '',
              class: 't',
              cell: ({ at }) => <Time at={at} />,
            },
            {
              head: words.day.changed,
              class: 'wide',
              cell: (change) => <Changed view={view} of={change} />,
            },
          ]}
          rows={changed}
        />
        {changes.count > changed.length && <p class="soft">{words.day.moreChanges}</p>}
      </Part>
      <Part of={readings} title={words.day.readings} view={view}>
        <p class="soft">{words.day.provedBy}</p>
        <Table
          caption={words.day.readings}
          columns={[
            { head: words.day.beganAt, class: 't', cell: ({ beganAt }) => format.second(beganAt) },
            { head: words.day.endedAt, class: 't', cell: ({ endedAt }) => format.second(endedAt) },
            { head: words.day.from, cell: ({ beginsAt }) => words.day.ends[beginsAt] },
            { head: words.day.records, class: 'n', cell: ({ shown }) => format.number(shown) },
            {
              head: words.day.lacks,
              class: 'n',
              cell: ({ lacks, claims }) => lacks + claims > 0 && format.number(lacks + claims),
            },
          ]}
          rows={readings.items}
        />
      </Part>
      <Part of={history} title={words.day.history} view={view}>
        <p class="soft">{words.day.byDatabase}</p>
        <Table
          caption={words.day.history}
          columns={[
            { head: words.day.entry, class: 'n', cell: ({ entry }) => entry },
            {
              head: words.fields['writtenAt'] ?? '',
              class: 't',
              cell: ({ enteredAt }) => format.second(enteredAt),
            },
            { head: words.day.kind, cell: (entry) => entryText(view, entry) },
            {
              head: words.day.records,
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
  const { words, format } = view;
  if (at === null) return <span class="soft">{words.record.neverInForce}</span>;
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
          {words.record.moreFields(format.number(fields.length - mostFields))}
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
      ? view.words.day.some(view.format.number(of.items.length), view.format.number(of.count))
      : view.format.number(of.count);
  return (
    <section>
      <h2>
        {title} <span class="soft">({some})</span>
      </h2>
      {of.items.length > 8 ? (
        <details>
          <summary>{view.words.choose}</summary>
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
  if (kind !== 'ledger') return words.day.kinds[kind];
  const totals =
    platformTotal === null || shownTotal === null
      ? ''
      : ` · ${format.number(shownTotal)} / ${format.number(platformTotal)}`;
  return [state === null ? '' : words.states[state], proof === null ? '' : words.proofs[proof]]
    .filter((one) => one !== '')
    .join(' · ')
    .concat(totals);
}
