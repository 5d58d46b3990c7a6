// Whether the service is well, as those who run it ask: no key is needed and nothing is told.
import * as z from 'zod';
import { transient } from '../../errors.ts';
import { unavailable } from '../http-answers.ts';
import { platformRoute, type PlatformRoute } from './platform-route.ts';

const health = (
  path: string,
  name: string,
  summary: string,
  read: Parameters<typeof platformRoute>[0]['read'],
): PlatformRoute =>
  platformRoute({
    path,
    name,
    group: 'The service',
    summary,
    about: 'Needs no key and tells nothing.',
    inPath: {},
    inQuery: {},
    answer: z.object({ status: z.string() }),
    refusals: [],
    needs: 'nothing',
    read,
  });

export const healthRoutes = [
  health(
    '/healthz',
    'isAlive',
    'Whether the process lives, and its schedule',
    async (_, { isAlive }) => {
      if (!isAlive()) return unavailable('the ticks of the schedule do not come');
      return { status: 200, body: '{"status":"ok"}' };
    },
  ),
  health(
    '/readyz',
    'isReady',
    'Whether it can answer from the archive, whose schema is this release’s',
    async (_, { archive }) => {
      try {
        await archive.ready();
      } catch (error) {
        // Also where a newer release migrated it: what it holds may mean something else now. The log says why.
        throw transient('not_ready', 'The service is not ready', error);
      }
      return { status: 200, body: '{"status":"ready"}' };
    },
  ),
];
