// The months that are certified: when, how many records, by which digest; the certificate as a file, and how to check.
import { monthStart } from '../../../day.ts';
import { listedResources } from '../../../model.ts';
import type { MonthCertificate } from '../../../query/book-types.ts';
import { Table } from '../layout.tsx';
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
  const [newest] = certificates;
  return {
    title: words.certificates.title,
    twin: linkTo(view, '/archive/v1/certificates'),
    isLive: true,
    body: (
      <>
        <h1>{words.certificates.title}</h1>
        <p>{words.certificates.about}</p>
        {newest === undefined ? (
          <p class="lead">{words.certificates.none}</p>
        ) : (
          <>
            <Certified view={view} certificates={certificates} />
            <p>{words.certificates.check}</p>
            <pre>
              outlast verify --project {newest.project} --resource {newest.resource} --month{' '}
              {newest.month.slice(0, 7)}
            </pre>
            <p class="soft">{words.certificates.more}</p>
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
      head={
        <>
          <th scope="col">{words.certificates.month}</th>
          <th scope="col">{words.certificates.list}</th>
          <th scope="col">{words.certificates.at}</th>
          <th scope="col" class="n">
            {words.certificates.records}
          </th>
          <th scope="col">{words.certificates.digest}</th>
          <th scope="col">{words.certificates.file}</th>
        </>
      }
    >
      {certificates.map(({ resource, month, certifiedAt, records, digest }) => (
        <tr>
          <th scope="row" class="t">
            {format.month(month)}
          </th>
          <td class="t">{words.resources[resource]}</td>
          <td class="t">{format.time(certifiedAt)}</td>
          <td class="n">{format.number(records)}</td>
          <td class="digest">
            <code>{digest}</code>
          </td>
          <td class="t">
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
          </td>
        </tr>
      ))}
    </Table>
  );
}
