// The months that are certified: when, how many records, by which digest; the certificate as a file, and how to check.
import { monthStart } from '../../../day.ts';
import { listedResources, type Day } from '../../../model.ts';
import type { MonthCertificate } from '../../../catalogue.ts';
import { Documents } from '../parts.tsx';
import { Table } from '../table.tsx';
import { linkTo, type Made, type Page, type View } from '../view.ts';

export const certificatesPage: Page = { path: '/certificates', nav: 'certificates', read };

async function read(view: View): Promise<Made> {
  const { words, archive, project, classesOf } = view;
  const lists = await Promise.all(
    listedResources.map((resource) =>
      archive.certificates({
        project: resource === 'nft_classes' ? classesOf(project) : project,
        resource,
      }),
    ),
  );
  // The newest month first, orders before classes.
  const certificates = lists.flat().toSorted((a, b) => b.month.localeCompare(a.month));
  return {
    title: words.certificates.title,
    twin: linkTo(view, '/archive/v1/certificates'),
    isLive: true,
    body: (
      <>
        <h1>{words.certificates.title}</h1>
        <p>{words.certificates.about}</p>
        {certificates.length === 0 ? (
          <p class="lead">{words.certificates.none}</p>
        ) : (
          <>
            <Certified view={view} certificates={certificates} />
            <p class="soft">{words.certificates.more}</p>
            <Documents view={view} names={['verify']} />
          </>
        )}
      </>
    ),
  };
}

function Certified(props: { view: View; certificates: readonly MonthCertificate[] }) {
  const { view, certificates } = props;
  const { words, format } = view;
  return (
    <Table
      caption={words.certificates.title}
      columns={[
        {
          head: words.certificates.month,
          class: 't',
          isName: true,
          cell: ({ month }) => format.month(month),
        },
        {
          head: words.certificates.list,
          class: 't',
          cell: ({ resource }) => words.resources[resource],
        },
        {
          head: words.certificates.at,
          class: 't',
          cell: ({ certifiedAt }) => format.time(certifiedAt),
        },
        {
          head: words.certificates.records,
          class: 'n',
          cell: ({ records }) => format.number(records),
        },
        { head: words.certificates.days, cell: (one) => <Days view={view} of={one} /> },
        {
          head: words.certificates.digest,
          class: 'wide',
          cell: ({ project, resource, month, digest }) => (
            <div class="digest">
              <code>{digest}</code>
              <code>
                outlast verify <span class="whole">--project {project}</span>{' '}
                <span class="whole">--resource {resource}</span>{' '}
                <span class="whole">--month {month.slice(0, 7)}</span>
              </code>
            </div>
          ),
        },
        {
          head: words.certificates.file,
          class: 't',
          cell: ({ resource, month, certifiedAt }) => (
            <>
              <a href={linkTo(view, `/archive/v1/certificates/${resource}/${month.slice(0, 7)}`)}>
                {words.certificates.download}
              </a>
              <br />
              <a
                href={linkTo(view, `/${resource}`, {
                  from: month,
                  to: monthStart(month, 1),
                  as_of: certifiedAt,
                })}
              >
                {words.certificates.read}
              </a>
            </>
          ),
        },
      ]}
      rows={certificates}
    />
  );
}

/** What the certificate itself says of its days (docs/verify.md). */
type Said = {
  lost_days?: Day[];
  days_not_held?: Day[];
  days_not_settled?: Day[];
  books?: {
    from: Day;
    to: Day;
    total: number | null;
    shown: number | null;
    asked_at: string;
    balance: string;
  }[];
};

function Days({ view: { words, format }, of }: { view: View; of: MonthCertificate }) {
  const said = JSON.parse(of.certificateJson) as Said;
  const { lost_days: lost = [], days_not_held: not = [], days_not_settled: pending = [] } = said;
  const count = (days: readonly Day[]): string => format.number(days.length);
  // A lost day is not held by that alone.
  const others = not.filter((day) => !lost.includes(day));
  return (
    <>
      {lost.length > 0 && (
        <div>
          <strong class="bad">{words.certificates.lost(count(lost))}</strong>
        </div>
      )}
      {others.length > 0 && <div>{words.certificates.notHeld(count(others))}</div>}
      {not.length === 0 && <div>{words.certificates.held}</div>}
      {pending.length > 0 && <div>{words.certificates.unsettled(count(pending))}</div>}
      {(said.books ?? []).map((books) => (
        <div class={books.balance === 'more' ? 'bad' : 'soft'}>
          {words.certificates.books(
            format.day(books.from),
            format.day(books.to),
            books.total === null ? words.unknown : format.number(books.total),
            books.shown === null ? words.unknown : format.number(books.shown),
            format.time(books.asked_at),
          )}
        </div>
      ))}
    </>
  );
}
