// Everything a record was ever seen to say, oldest first: when each content was in force, and what it changed.
import type { Held } from '../../../query/lists.ts';
import type { Version } from '../../../query/types.ts';
import { differences, readRaw } from '../json-text.ts';
import { Table, Time } from '../parts.tsx';
import type { View } from '../view.ts';
import { Raw } from '../value.tsx';

/** The newest contents are shown; a record that changes every hour has thousands. */
const mostContents = 100;
/** Of them, those that are not folded. */
const unfolded = 5;
/** Characters of JSON that they have together. */
const mostInHistory = 2_000_000;

function countShown(versions: readonly Version<Held>[]): number {
  let [count, characters] = [0, 0];
  for (const { item } of versions.toReversed()) {
    characters += item.rawJson.length + (item.rawBytes?.length ?? 0);
    if (count === mostContents || (count > 0 && characters > mostInHistory)) break;
    count++;
  }
  return count;
}

export function History(props: {
  view: View;
  lookup: string;
  versions: readonly Version<Held>[];
  path: string;
}) {
  const { view, lookup, versions, path } = props;
  const { t } = view;
  const hidden = versions.length - countShown(versions);
  const folded = Math.max(0, versions.length - hidden - unfolded);
  return (
    <section>
      {lookup !== '' && <h3>{lookup}</h3>}
      {hidden > 0 && (
        <p class="soft">
          <a href={path}>
            {t('{count} earlier contents are not shown here; they are in the JSON.', {
              count: hidden,
            })}
          </a>
        </p>
      )}
      {folded > 0 && (
        <details>
          <summary>
            {t('{count:One earlier content|# earlier contents}', { count: folded })}
          </summary>
          <Contents view={view} versions={versions} from={hidden} to={hidden + folded} />
        </details>
      )}
      <Contents view={view} versions={versions} from={hidden + folded} to={versions.length} />
    </section>
  );
}

function Contents(props: {
  view: View;
  versions: readonly Version<Held>[];
  from: number;
  to: number;
}) {
  const { view, versions, from, to } = props;
  const { t } = view;
  return (
    <ol class="versions" start={from + 1}>
      {versions.slice(from, to).map((version, i) => (
        <li>
          <p>
            <strong>
              <Period view={view} of={version} />
            </strong>{' '}
            {version.isCurrent && <span class="mark good">{t('in force now')}</span>}
          </p>
          <Changes view={view} of={version} before={inForceBefore(versions, from + i)} />
          <details>
            <summary>{t('As the platform gave it')}</summary>
            <Raw view={view} value={readRaw(version.item)} />
          </details>
        </li>
      ))}
    </ol>
  );
}

/** What was in force last: a content that never was replaced nothing. */
const inForceBefore = (versions: readonly Version<Held>[], at: number): Held | null =>
  versions.slice(0, at).findLast(({ inForceFrom }) => inForceFrom !== null)?.item ?? null;

function Period({ view, of: version }: { view: View; of: Version<Held> }) {
  const { t, format } = view;
  const { inForceFrom, inForceUntil, item } = version;
  if (inForceFrom === null) {
    return (
      <>
        {t('came late and was never in force')} ({t('seen at')} <Time at={item.observedAt} />)
      </>
    );
  }
  const text = t('in force {from} – {until}', {
    from: format.second(inForceFrom),
    until: inForceUntil === null ? t('now') : format.second(inForceUntil),
  });
  return <span title={`${inForceFrom} – ${inForceUntil ?? ''}`}>{text}</span>;
}

/** Fields of a content that are shown as changed. */
const mostFields = 200;

type Changed = { view: View; of: Version<Held>; before: Held | null };

function Changes({ view: { t }, of: version, before }: Changed) {
  const soft = (text: string) => <span class="soft">{text}</span>;
  if (before === null) return <p class="soft">{t('first seen')}</p>;
  const found = differences(readRaw(before), readRaw(version.item));
  if (found.length === 0) return <p class="soft">{t('nothing else changed')}</p>;
  return (
    <>
      <Table
        caption={t('What changed against the content in force before')}
        columns={[
          {
            head: t('Field'),
            isName: true,
            cell: ({ path }) => <code class="value">{path}</code>,
          },
          {
            head: t('was'),
            cell: ({ was }) => (was === null ? soft(t('new')) : <del class="value">{was}</del>),
          },
          {
            head: t('became'),
            cell: ({ became }) =>
              became === null ? soft(t('gone')) : <ins class="value">{became}</ins>,
          },
        ]}
        rows={found.slice(0, mostFields)}
      />
      {found.length > mostFields && (
        <p class="soft">
          {t('and {count:one more field|# more fields}', { count: found.length - mostFields })}
        </p>
      )}
    </>
  );
}
