// Every route of `/archive/v1` that reads, in the groups in which people look for them: what is certain and what goes
// on now stand here, the others in files of their own. These tell of now only.
import { recentFilters } from '../../query/activity.ts';
import { listedResource, month, resource, sha256 } from '../../query/arguments.ts';
import { dayInPath, owner } from '../../query/day-report.ts';
import { questionList, questionNames } from '../../query/lists.ts';
import * as reports from '../../query/reports.ts';
import { canonicalFile } from '../../platform/canonical.ts';
import { Refused, refusal } from '../http-answers.ts';
import { record } from './answer-schemas.ts';
import { projectFor, route, type Route } from './route.ts';
import { recordRoutes } from './record-routes.ts';
import { figureRoutes } from './figure-routes.ts';
import { objectReply, questionRoute, readWhole, wholeRoute } from './question-routes.ts';

export const base = '/archive/v1';

const certificates = questionList('certificates');
const dayReport = record(
  'DayReport',
  'All that is known of one day of a list: what coverage says of it, and what that rests on',
  reports.dayReport,
);

const proofRoutes: readonly Route[] = [
  wholeRoute({
    path: '/projects',
    name: 'listProjects',
    summary: 'The projects you may read',
    needs: 'none',
    kind: record('Project', 'A project you may read', reports.projects),
    rows: async (_, { projects }) => projects.toSorted().map((name) => ({ projectId: name })),
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
    inPath: dayInPath,
    inQuery: { owner },
    answer: dayReport.schema,
    read: async ({ resource, ...of }, asking) => {
      const by = projectFor(asking, resource);
      return objectReply(await asking.archive.day({ project: by, resource, ...of }), dayReport);
    },
  }),
  wholeRoute({
    path: '/summary',
    name: 'listSummaries',
    summary: 'How each list of each project stands',
    needs: 'none',
    kind: record('Summary', 'How one list of one project stands', reports.summary),
    rows: async (_, { archive, projects, classesOf }) => {
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
      return rows;
    },
  }),
  questionRoute('certificates'),
  route({
    path: '/certificates/{resource}/{month}',
    name: 'getCertificate',
    summary: 'The certificate of a month as a file',
    about:
      'Byte for byte what stands under OUTLAST_CERTIFICATES_DIR, with the SHA-256 that `outlast verify` prints.',
    mayBeAbsent: true,
    inPath: { resource: listedResource, month },
    answer: null,
    read: async ({ resource, month: of }, asking) => {
      const [found] = await readWhole(asking, certificates, { resource, month: of });
      if (found === undefined) return null;
      const certificate = String(found['certificateJson']);
      const { issue = 1 } = JSON.parse(certificate) as { issue?: number };
      const name = `${resource}-${of}.${issue > 1 ? `${issue}.` : ''}certificate.json`;
      return { kind: 'file', bytes: Buffer.from(canonicalFile(certificate)), name };
    },
  }),
  questionRoute('facts'),
];

const rejectRoute = route({
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

const progress = record('Progress', 'What goes on now', reports.progress);

const nowRoutes: readonly Route[] = [
  route({
    path: '/progress',
    name: 'getProgress',
    summary: 'What goes on now',
    about: 'Cheap enough to be asked for every two seconds; /events tells it when it changes.',
    mayBeAbsent: true,
    answer: progress.schema,
    read: async (_, { archive, project }) =>
      objectReply(await archive.progress({ project }), progress),
  }),
  route({
    path: '/events',
    name: 'listenToEvents',
    summary: 'What goes on, told when it changes',
    about:
      'Server-Sent Events: `progress`, with what /progress answers, at once and whenever more than a clock has changed; `trouble`, with what a refusal says, while the archive cannot be read. A comment every 15 seconds is a sign of life. 503 while 100 listen.',
    answer: null,
    isEvents: true,
    read: () => Promise.resolve({ kind: 'events' }),
  }),
  questionRoute('problems'),
  questionRoute('alerts'),
  wholeRoute({
    path: '/recent',
    name: 'listRecent',
    summary: 'The newest records of the newest days',
    about: 'Orders by default.',
    inQuery: recentFilters,
    kind: record('Recent', 'A record that came in lately', reports.recent),
    rows: ({ resource = 'orders', ...limit }, asking) =>
      asking.archive.recent({ project: projectFor(asking, resource), resource, ...limit }),
  }),
  wholeRoute({
    path: '/settings',
    name: 'listSettings',
    summary: 'The settings in force',
    about:
      'For whoever may read every project here, or sits at this machine. Of a secret it says only whether it is set.',
    needs: 'none',
    kind: record('Setting', 'A setting in force', reports.setting),
    rows: async (_, { settings }) => {
      if (settings === null) {
        throw new Refused(
          refusal(403, 'FORBIDDEN', 'the settings are shown to whoever may read every project'),
        );
      }
      return settings;
    },
  }),
];

/** What the catalogue has and no other group shows. */
const otherQuestions = questionNames
  .map(questionRoute)
  .filter(({ path }) => ![...proofRoutes, ...nowRoutes].some((route) => route.path === path));

export const routeGroups: readonly { name: string; routes: readonly Route[] }[] = [
  { name: 'Records', routes: recordRoutes },
  { name: 'What is certain', routes: proofRoutes },
  { name: 'What goes on', routes: nowRoutes },
  { name: 'Figures', routes: figureRoutes },
  {
    name: 'The archive’s own books',
    routes: [...otherQuestions, rejectRoute],
  },
];

export const routes: readonly Route[] = routeGroups.flatMap((group) => group.routes);
