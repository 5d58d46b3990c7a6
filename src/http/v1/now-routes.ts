// The routes of what goes on now: progress, as it stands and as it comes, alerts, what came in, and the settings in
// force.
import { recentFilters } from '../../query/activity.ts';
import { Refused, refusal } from '../http-answers.ts';
import * as reports from '../../query/reports.ts';
import { listOf, record } from './answer-schemas.ts';
import { one, wholeReply } from './list-arguments.ts';
import { questionRoute } from './question-routes.ts';
import { present, projectFor, route, type Route } from './archive-route.ts';

const progress = record('Progress', 'What goes on now', reports.progress);
const recent = record('Recent', 'A record that came in lately', reports.recent);
const setting = record('Setting', 'A setting in force', reports.setting);

export const nowRoutes: readonly Route[] = [
  route({
    path: '/progress',
    name: 'getProgress',
    summary: 'What goes on now',
    about: 'Cheap enough to be asked for every two seconds; /events tells it when it changes.',
    mayBeAbsent: true,
    answer: progress.schema,
    read: async (_, { archive, project }) => one(await archive.progress({ project }), progress),
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
  route({
    path: '/recent',
    name: 'listRecent',
    summary: 'The newest records of the newest days',
    about: 'Orders by default.',
    isList: true,
    inQuery: recentFilters,
    answer: listOf(recent),
    read: async ({ resource = 'orders', limit }, asking) => {
      const query = { project: projectFor(asking, resource), resource, ...present({ limit }) };
      return wholeReply(await asking.archive.recent(query), recent);
    },
  }),
  route({
    path: '/settings',
    name: 'listSettings',
    summary: 'The settings in force',
    about:
      'For whoever may read every project here, or sits at this machine. Of a secret it says only whether it is set.',
    needs: 'none',
    isList: true,
    answer: listOf(setting),
    read: async (_, { settings }) => {
      if (settings === null) {
        throw new Refused(
          refusal(403, 'FORBIDDEN', 'the settings are shown to whoever may read every project'),
        );
      }
      return wholeReply(settings, setting);
    },
  }),
];
