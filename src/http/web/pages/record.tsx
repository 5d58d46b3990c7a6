// One record: what it says, as it was known at an instant, its certificate file, and its history.
import { asOf as instant } from '../../../query/arguments.ts';
import type { CertificateFile, Version } from '../../../query/types.ts';
import { askedOf, givenIn, sentenceOf } from '../asked.ts';
import { InstantField, isolated, ProjectField, Refusal, Time } from '../parts.tsx';
import { linkTo, type Made, type Page, type View } from '../view.ts';
import { Content, lookupOf } from './record-content.tsx';
import { History } from './record-history.tsx';
import {
  nftClasses,
  orders,
  tokens,
  transactions,
  type Held,
  type RecordKind,
} from './record-kinds.tsx';
import { isStep, linkToRecord, projectOf, readList } from './records.tsx';

const pagesOf = <Item extends Held>(kind: RecordKind<Item>): Page[] => [
  {
    path: `/${kind.resource}`,
    nav: kind.resource,
    read: async (view) => {
      const id = (view.query.get('find') ?? '').trim();
      if (id === '') return readList(view, kind);
      const made = await readRecord(view, kind, id);
      return made.status === 404 || isStep(id)
        ? made
        : { ...made, status: 303, location: linkToRecord(view, kind.resource, id) };
    },
  },
  {
    path: `/${kind.resource}/:id`,
    nav: kind.resource,
    read: (view, { id = '' }) => readRecord(view, kind, id),
  },
];

/** Lists of records, and each of them. */
export const recordPages: readonly Page[] = [
  ...pagesOf(orders),
  ...pagesOf(nftClasses),
  ...pagesOf(transactions),
  ...pagesOf(tokens),
];

async function readRecord<Item extends Held>(
  view: View,
  kind: RecordKind<Item>,
  id: string,
): Promise<Made> {
  const { words, archive } = view;
  const project = projectOf(view, kind);
  const versions = await heldOf(() => kind.history(archive, project, id));
  if (versions.length === 0) return readList(view, kind, id);
  const given = givenIn(view.query)['as_of'] ?? '';
  let sentence: string | null = null;
  let then: Item[] | null = null;
  try {
    const { asOf } = askedOf({ asOf: instant }, given === '' ? {} : { as_of: given });
    if (typeof asOf === 'string') then = await kind.getThen(archive, project, id, asOf);
  } catch (error) {
    sentence = sentenceOf(error);
    if (sentence === null) throw error;
  }
  const shown = then ?? versions.filter(({ isCurrent }) => isCurrent).map(({ item }) => item);
  const file =
    kind.resource === 'transactions'
      ? await archive.transactions.certificateFile(project, id)
      : null;
  const json = `/archive/v1/${kind.resource}/${encodeURIComponent(id)}`;
  return {
    title: `${words.record.one[kind.resource]} ${isolated(id)}`,
    status: sentence !== null ? 400 : shown.length === 0 ? 404 : 200,
    twin: linkTo(view, json, { as_of: given }),
    body: (
      <>
        <p>
          <a href={linkTo(view, `/${kind.resource}`)}>← {words.nav[kind.resource]}</a>
        </p>
        <h1>
          {words.record.one[kind.resource]} <bdi class="name">{id}</bdi>
        </h1>
        <Refusal view={view} sentence={sentence} />
        {then !== null && (
          <p class="notice mild">
            {shown.length === 0 ? words.record.notThen(given) : words.records.asKnownAt(given)}{' '}
            <a href={linkToRecord(view, kind.resource, id)}>{words.records.nowInstead}</a>
          </p>
        )}
        {shown.map((item) => (
          <Content view={view} kind={kind} item={item} />
        ))}
        {file !== null && (
          <File view={view} file={file} path={linkTo(view, `${json}/certificate_file`)} />
        )}
        <AsOf view={view} kind={kind} id={id} given={given} />
        <h2 id="history">{words.record.history}</h2>
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

/** An id that cannot be one is held by nobody. */
async function heldOf<Item>(read: () => Promise<Version<Item>[]>): Promise<Version<Item>[]> {
  try {
    return await read();
  } catch (error) {
    if (sentenceOf(error) === null) throw error;
    return [];
  }
}

/** Each lookup of an operation has a history of its own. */
const byLookup = <Item extends Held>(versions: Version<Item>[]): [string, Version<Item>[]][] =>
  [...new Set(versions.map(({ item }) => lookupOf(item)))].map((lookup) => [
    lookup,
    versions.filter(({ item }) => lookupOf(item) === lookup),
  ]);

function File({ view, file, path }: { view: View; file: CertificateFile; path: string }) {
  const { words, format } = view;
  return (
    <section>
      <h2>{words.record.files}</h2>
      <dl class="facts">
        <dt>{words.record.address}</dt>
        {/* No link: whatever stands in a record, it is not followed by a click here. */}
        <dd>
          <bdi>{file.url}</bdi>
        </dd>
        <dt>{words.record.fetched}</dt>
        <dd>
          <Time at={file.fetchedAt} />
        </dd>
        <dt>{words.record.mediaType}</dt>
        <dd>
          <bdi>{file.mediaType ?? words.unknown}</bdi>,{' '}
          {words.record.bytes(format.number(file.bytes.length))}
        </dd>
        <dt>SHA-256</dt>
        <dd>
          <code>{file.sha256}</code>
        </dd>
      </dl>
      <p>
        <a class="button" href={path} download>
          {words.record.download}
        </a>
      </p>
    </section>
  );
}

function AsOf<Item extends Held>(props: {
  view: View;
  kind: RecordKind<Item>;
  id: string;
  given: string;
}) {
  const { view, kind, id, given } = props;
  const { words } = view;
  return (
    <form
      class="filter"
      method="get"
      action={linkToRecord(view, kind.resource, id).split('?', 1)[0]}
    >
      {isStep(id) && <input type="hidden" name="find" value={id} />}
      <div class="wide">
        <InstantField view={view} id="as-of" value={given} label={words.record.asOf} isRequired />
      </div>
      <ProjectField view={view} />
      <button>{words.record.show}</button>
    </form>
  );
}
