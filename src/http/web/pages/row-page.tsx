// The page of a row of any list: what its fields say and mean. That of a record also: as it was known at an instant, its
// certificate file, and its history.
import { asOf as instant } from '../../../query/arguments.ts';
import { recordsOf, type Held, type List, type Row } from '../../../query/lists.ts';
import type { CertificateFile, Version } from '../../../query/types.ts';
import type { Resource } from '../../../model.ts';
import { snake, type Column } from '../../../resources.ts';
import { readWhole } from '../../v1/question-routes.ts';
import { askedOf, givenIn, projectFor } from '../../v1/route.ts';
import { foundOrSentence } from '../../http-answers.ts';
import { readRaw } from '../json-text.ts';
import { Facts, InstantField, isolated, ProjectField, Refusal, Time } from '../parts.tsx';
import { FieldList, Raw } from '../value.tsx';
import { linkTo, type Made, type Page, type View } from '../view.ts';
import { CertificateSummary } from './list-extras.tsx';
import { instantText, rowKey, linkToRecord, readList } from './list-page.tsx';
import { History } from './record-history-page.tsx';
import { notFoundPage } from './error-page.tsx';

/** A list, and each of its rows that has a name. */
export function listPages(list: List): Page[] {
  const { name, resource, key } = list;
  const inPath = resource === null ? key.map(snake) : ['id'];
  const whole: Page = {
    nav: name,
    path: `/${name}`,
    read: async (view) => {
      const id = resource === null ? '' : (view.query.get('find') ?? '').trim();
      if (resource === null || id === '') return readList(view, list);
      const made = await readRecord(view, { ...list, resource }, id);
      if (made.status === 404) return made;
      return { ...made, status: 303, location: linkToRecord(view, name, id) };
    },
  };
  const ofRow: Page = {
    nav: name,
    path: `/${name}/${inPath.map((one) => `:${one}`).join('/')}`,
    read: (view, named) =>
      resource === null
        ? readRow(view, list, named)
        : readRecord(view, { ...list, resource }, named['id'] ?? ''),
  };
  return inPath.length === 0 ? [whole] : [whole, ofRow];
}

/** By the filters that name it. */
async function readRow(view: View, list: List, named: Record<string, string>): Promise<Made> {
  const { t, words } = view;
  const rows = await rowsNamed(view, list, named);
  const [row] = rows;
  if (row === undefined) {
    return notFoundPage(
      view,
      list.name === 'certificates'
        ? t('This month has no certificate: it gets one after it has left the platform’s window.')
        : t('The archive holds no such record.'),
    );
  }
  const title = words.lists[list.name] ?? list.name;
  const name = rowKey(list, row)
    .map((part) => words.lists[part] ?? part)
    .join(' · ');
  return {
    title: `${title} ${isolated(name)}`,
    twin: linkTo(view, `/archive/v1/${list.name}`, named),
    body: (
      <>
        <p>
          <a href={linkTo(view, `/${list.name}`)}>← {title}</a>
        </p>
        <h1>
          <bdi class="name">{name}</bdi>
        </h1>
        {list.name === 'certificates' && <CertificateSummary view={view} of={row} />}
        {list.name === 'rejects' && (
          <p>
            <a
              class="button"
              href={linkTo(view, `/archive/v1/rejects/${rowKey(list, row).join('/')}`)}
              download
            >
              {t('Download')}
            </a>
          </p>
        )}
        {rows.map((one) => (
          <FieldList view={view} list={list} row={one} />
        ))}
      </>
    ),
  };
}

/** What cannot be the name of a row names none. */
async function rowsNamed(view: View, list: List, named: Record<string, string>): Promise<Row[]> {
  const shape = Object.fromEntries(
    Object.entries(list.filters).filter(([name]) => list.key.includes(name)),
  );
  const { found } = await foundOrSentence(async () => {
    const asked = askedOf(shape, named);
    if (!list.isPaged) return readWhole(view, list, asked);
    const project = projectFor(view, asked['resource'] as Resource | undefined);
    return (await list.of(view.archive).list({ project, ...asked })).items;
  });
  return found ?? [];
}

type RecordsList = List & { resource: Resource };

async function readRecord(view: View, list: RecordsList, id: string): Promise<Made> {
  const { t, words, archive } = view;
  const { resource } = list;
  const project = projectFor(view, resource);
  const records = recordsOf(archive, resource);
  // An id that cannot be one is held by nobody.
  const { found: versions } = await foundOrSentence(() => records.history(project, id));
  if (versions === null || versions.length === 0) return readList(view, list, id);
  const given = givenIn(view.query)['as_of'] ?? '';
  const { found: then, sentence } = await foundOrSentence(async () => {
    const { asOf } = askedOf({ asOf: instant }, given === '' ? {} : { as_of: given });
    return typeof asOf === 'string' ? records.get(project, id, { asOf }) : null;
  });
  const shown = then ?? versions.filter(({ isCurrent }) => isCurrent).map(({ item }) => item);
  const file =
    resource === 'transactions' ? await archive.transactions.certificateFile(project, id) : null;
  const json = `/archive/v1/${resource}/${encodeURIComponent(id)}`;
  return {
    title: `${words.one[resource]} ${isolated(id)}`,
    status: sentence !== null ? 400 : shown.length === 0 ? 404 : 200,
    twin: linkTo(view, json, { as_of: given }),
    body: (
      <>
        <p>
          <a href={linkTo(view, `/${resource}`)}>← {words.lists[resource]}</a>
        </p>
        <h1>
          {words.one[resource]} <bdi class="name">{id}</bdi>
        </h1>
        <Refusal view={view} sentence={sentence} />
        {then !== null && (
          <p class="notice mild">
            {shown.length === 0
              ? t('At {time} nothing was known of it yet.', { time: instantText(view, given) })
              : t('As it was known at {time}.', { time: instantText(view, given) })}
            {words.between}
            <a href={linkToRecord(view, resource, id)}>{t('As it is now')}</a>
          </p>
        )}
        {shown.map((item) => (
          <Content view={view} list={list} item={item} />
        ))}
        {file !== null && (
          <File view={view} file={file} path={linkTo(view, `${json}/certificate_file`)} />
        )}
        <AsOf view={view} resource={resource} id={id} given={given} />
        <h2 id="history">{t('Everything it was ever seen to say')}</h2>
        {byLookup(versions).map(([lookup, of]) => (
          <History
            view={view}
            lookup={lookup}
            versions={of}
            path={linkTo(view, `${json}/history`)}
          />
        ))}
      </>
    ),
  };
}

/** Each lookup of an operation has a history of its own. */
const byLookup = (versions: Version<Held>[]): [string, Version<Held>[]][] =>
  [...new Set(versions.map(({ item }) => lookupOf(item)))].map((lookup) => [
    lookup,
    versions.filter(({ item }) => lookupOf(item) === lookup),
  ]);

function File({ view, file, path }: { view: View; file: CertificateFile; path: string }) {
  const { t, words } = view;
  return (
    <section>
      <h2>{t('Certificate file')}</h2>
      <Facts
        of={[
          // No link: whatever stands in a record, it is not followed by a click here.
          [t('From'), <bdi>{file.url}</bdi>],
          [t('Fetched at'), <Time at={file.fetchedAt} />],
          [
            t('Kind'),
            <>
              <bdi>{file.mediaType ?? t('unknown')}</bdi>
              {words.punctuation.comma}
              {t('{count} bytes', { count: file.bytes.length })}
            </>,
          ],
          ['SHA-256', <code>{file.sha256}</code>],
        ]}
      />
      <p>
        <a class="button" href={path} download>
          {t('Download')}
        </a>
      </p>
    </section>
  );
}

type AsOf = { view: View; resource: Resource; id: string; given: string };

function AsOf({ view, resource, id, given }: AsOf) {
  const { t } = view;
  return (
    <form class="filter" method="get" action={`/${resource}/${encodeURIComponent(id)}`}>
      <div class="wide">
        <InstantField
          view={view}
          id="as-of"
          value={given}
          label={t('See it as it was known at')}
          isRequired
        />
      </div>
      <ProjectField view={view} />
      <button>{t('Show')}</button>
    </form>
  );
}

/** The lookup that gave it; '' for what no lookup gives. */
const lookupOf = (item: Row): string => ('apiVersion' in item ? String(item['apiVersion']) : '');

function Content({ view, list, item }: { view: View; list: RecordsList; item: Held }) {
  const { t } = view;
  const lookup = lookupOf(item);
  const isSaid = ({ part }: Column): boolean => part === 'key' || part === 'record';
  return (
    <>
      {item.missingSince !== null && (
        <p class="notice">
          {t('The platform no longer shows it, since {since}.', {
            since: view.format.second(item.missingSince),
          })}
        </p>
      )}
      {item['message'] !== '' && typeof item['message'] === 'string' && (
        <p class="notice mild">
          {t('The platform says:')} <bdi>{item['message']}</bdi>
        </p>
      )}
      <div class="two">
        <section>
          <h2>
            {t('What it says')}
            {lookup !== '' && ` (${lookup})`}
          </h2>
          <FieldList view={view} list={list} row={item} isShown={isSaid} />
        </section>
        <section>
          <h2>{t('What the archive noted of it')}</h2>
          <FieldList view={view} list={list} row={item} isShown={(of) => !isSaid(of)} />
        </section>
      </div>
      <h2>{t('As the platform gave it')}</h2>
      <Raw view={view} value={readRaw(item)} />
    </>
  );
}
