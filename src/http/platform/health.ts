// Whether the service is well, as those who run it ask: no key is needed and nothing is told.
import * as z from 'zod';
import { platformRoute, type PlatformRoute } from './route.ts';

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
  health('/healthz', 'isAlive', 'Whether the process lives', async () => ({
    status: 200,
    body: '{"status":"ok"}',
  })),
  health(
    '/readyz',
    'isReady',
    'Whether it can answer from the archive',
    async (_, { archive, project }) => {
      await archive.facts({ project });
      return { status: 200, body: '{"status":"ready"}' };
    },
  ),
];
