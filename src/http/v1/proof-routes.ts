// The routes of what is certain: coverage day by day, sums of it, certificates, and what was observed of the platform.
// They tell of now only.
import { listedResource, month, resource, sha256 } from '../../query/arguments.ts';
import { dayOf, owner } from '../../query/day-report.ts';
import { questionList } from '../../query/lists.ts';
import * as reports from '../../query/reports.ts';
import { listOf, record } from './answer-schemas.ts';
import { one, wholeReply } from './list-arguments.ts';
import { questionRoute, readWhole } from './question-routes.ts';
import { projectFor, route, type Route } from './archive-route.ts';

const certificates = questionList('certificates');
const project = record('Project', 'A project you may read', reports.projects);
const summary = record('Summary', 'How one list of one project stands', reports.summary);
const dayReport = record(
  'DayReport',
  'All that is known of one day of a list: what coverage says of it, and what that rests on',
  reports.dayReport,
);

export const proofRoutes: readonly Route[] = [
  route({
    path: '/projects',
    name: 'listProjects',
    summary: 'The projects you may read',
    needs: 'none',
    isList: true,
    answer: listOf(project),
    read: async (_, { projects }) =>
      wholeReply(
        projects.toSorted().map((name) => ({ project: name })),
        project,
      ),
  }),
  questionRoute('coverage'),
  questionRoute('books'),
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
    read: async ({ resource, ...of }, asking) => {
      const by = projectFor(asking, resource);
      return one(await asking.archive.day({ project: by, resource, ...of }), dayReport);
    },
  }),
  route({
    path: '/summary',
    name: 'listSummaries',
    summary: 'How each list of each project stands',
    needs: 'none',
    isList: true,
    answer: listOf(summary),
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
      return wholeReply(rows, summary);
    },
  }),
  questionRoute('certificates'),
  route({
    path: '/certificates/{resource}/{month}',
    name: 'getCertificate',
    summary: 'The certificate of a month as a file',
    about: 'Byte for byte what its digest is of, and what stands under OUTLAST_CERTIFICATES_DIR.',
    mayBeAbsent: true,
    inPath: { resource: listedResource, month },
    answer: null,
    read: async ({ resource, month: of }, asking) => {
      const [found] = await readWhole(asking, certificates, { resource, month: of });
      if (found === undefined) return null;
      const certificate = String(found['certificateJson']);
      const { issue = 1 } = JSON.parse(certificate) as { issue?: number };
      const name = `${resource}-${of}.${issue > 1 ? `${issue}.` : ''}certificate.json`;
      return { kind: 'file', bytes: Buffer.from(certificate), name };
    },
  }),
  questionRoute('facts'),
];

export const rejectRoute = route({
  path: '/rejects/{resource}/{sha256}',
  name: 'getReject',
  summary: 'The bytes of such a record, as the platform gave them',
  mayBeAbsent: true,
  inPath: { resource: resource.describe('As the list says'), sha256 },
  answer: null,
  read: async ({ resource: of, sha256: digest }, asking) => {
    const found = await asking.archive.reject(projectFor(asking, of), of, digest);
    const name = `reject-${of}-${digest}`;
    return found === null ? null : { kind: 'file', bytes: found.bytes, name };
  },
});
