// The routes of what is certain: coverage day by day, sums of it, certificates, and what was observed of the platform.
// They tell of now only.
import * as z from 'zod';
import { listedResources } from '../../model.ts';
import { listedResource } from '../../query/arguments.ts';
import { certificateFilters } from '../../query/books.ts';
import { coverageFilters } from '../../query/coverage.ts';
import { dayOf, owner } from '../../query/day-report.ts';
import * as schema from './book-schemas.ts';
import { listOf, text } from './answer-schemas.ts';
import { one, wholeReply } from './lists.ts';
import { dayReport } from './report-schemas.ts';
import { route, type ArchiveRequest, type Route } from './route.ts';

/** Both lists, or the one that is asked for, each of the project that archives it. */
async function ofEach<Item>(
  only: (typeof listedResources)[number] | undefined,
  { project, classesOf }: ArchiveRequest,
  read: (of: { project: string; resource: (typeof listedResources)[number] }) => Promise<Item[]>,
): Promise<Item[]> {
  const rows: Item[] = [];
  for (const one of listedResources) {
    if (only !== undefined && only !== one) continue;
    const of = one === 'nft_classes' ? classesOf(project) : project;
    rows.push(...(await read({ project: of, resource: one })));
  }
  return rows;
}

export const proofRoutes: readonly Route[] = [
  route({
    path: '/projects',
    name: 'listProjects',
    summary: 'The projects you may read',
    needs: 'none',
    isList: true,
    answer: listOf(schema.project),
    read: async (_, { projects }) =>
      wholeReply(
        projects.toSorted().map((project) => ({ project })),
        schema.project,
      ),
  }),
  route({
    path: '/coverage',
    name: 'listCoverage',
    summary: 'What is certain, day by day',
    about:
      'One entry a day (and owner): state, proof, both totals and reservations. A figure is as good as the coverage of its days.',
    isList: true,
    inQuery: coverageFilters,
    answer: listOf(schema.coverageDay),
    read: async ({ resource: only, ...days }, asking) => {
      const read = (of: { project: string; resource: (typeof listedResources)[number] }) =>
        asking.archive.coverage({ ...of, ...days });
      return wholeReply(await ofEach(only, asking, read), schema.coverageDay);
    },
  }),
  route({
    path: '/books',
    name: 'listBooks',
    summary: 'What the platform counts, beside what it showed',
    about:
      'The newest books of each list (and owner): of all days that are over, in all and by status.',
    isList: true,
    answer: listOf(schema.balance),
    inQuery: { resource: listedResource },
    read: async ({ resource: only }, asking) =>
      wholeReply(await ofEach(only, asking, (of) => asking.archive.books(of)), schema.balance),
  }),
  route({
    path: '/coverage/{resource}/{day}',
    name: 'getDay',
    summary: 'All that is known of one day',
    about:
      'What coverage says of it, and what that rests on: its records, readings, journal and rejects, and what changed or vanished.',
    mayBeAbsent: true,
    inPath: dayOf,
    inQuery: { owner },
    answer: dayReport.schema,
    read: async ({ resource, ...of }, { archive, project, classesOf }) => {
      const by = resource === 'nft_classes' ? classesOf(project) : project;
      return one(await archive.day({ project: by, resource, ...of }), dayReport);
    },
  }),
  route({
    path: '/summary',
    name: 'listSummaries',
    summary: 'How each list of each project stands',
    needs: 'none',
    isList: true,
    answer: listOf(schema.summary),
    read: async (_, { archive, projects, classesOf }) => {
      const rows = [];
      // Classes stand once, under the project that archives them.
      const classes = new Set(projects.map(classesOf));
      for (const project of new Set([...projects, ...classes])) {
        const found = await archive.summary({ project });
        rows.push(
          ...found.filter(({ resource }) =>
            resource === 'nft_classes' ? classes.has(project) : projects.includes(project),
          ),
        );
      }
      return wholeReply(rows, schema.summary);
    },
  }),
  route({
    path: '/certificates',
    name: 'listCertificates',
    summary: 'What is certified of months that are over',
    about:
      'Its `certified_at` is the `as_of` that reads what was certified. A record whose time of creation changed since stands under its present day there.',
    isList: true,
    inQuery: certificateFilters,
    answer: listOf(schema.certificate),
    read: async ({ resource: only, ...of }, asking) => {
      const rows = await ofEach(only, asking, (one) =>
        asking.archive.certificates({ ...one, ...of }),
      );
      return wholeReply(rows, schema.certificate);
    },
  }),
  route({
    path: '/certificates/{resource}/{month}',
    name: 'getCertificate',
    summary: 'The certificate of a month as a file',
    about: 'Byte for byte what its digest is of, and what stands under OUTLAST_CERTIFICATES_DIR.',
    mayBeAbsent: true,
    inPath: certificateFilters,
    answer: null,
    read: async ({ resource, month }, { archive, project, classesOf }) => {
      const of = resource === 'nft_classes' ? classesOf(project) : project;
      const [found] = await archive.certificates({ project: of, resource, month });
      if (found === undefined) return null;
      const { issue = 1 } = JSON.parse(found.certificateJson) as { issue?: number };
      const name = `${resource}-${month}.${issue > 1 ? `${issue}.` : ''}certificate.json`;
      return { kind: 'file', bytes: Buffer.from(found.certificateJson), name };
    },
  }),
  route({
    path: '/facts',
    name: 'getFacts',
    summary: 'What was observed of the platform',
    about: 'By name, for example `orders.limit`: the most records that a page gives.',
    answer: z.object({ project: text, facts: z.record(z.string(), text) }),
    read: async (_, { archive, project }) => {
      const facts = await archive.facts({ project });
      return { kind: 'object', json: JSON.stringify({ project, facts }) };
    },
  }),
];
