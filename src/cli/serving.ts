// The HTTP server as `start` and `demo` run it: an archive opened for reading, and who may read it.
import type { Log } from '../log.ts';
import { serve, type Served } from '../http/server.ts';
import type { EnterOperations } from '../http/v1/watch.ts';
import { openArchive } from '../query/archive.ts';
import type { Archive } from '../query/types.ts';
import type { Settings } from '../settings/settings.ts';
import { readReaders } from './readers.ts';

/** Throws settings `readers_invalid` or `serve_failed`, and what opening an archive throws. */
export async function startServing(
  settings: Settings,
  connectionString: string,
  log: Log,
  watch?: EnterOperations,
): Promise<Served> {
  const keys = readReaders(settings);
  const archive = await openArchive({ connectionString, log });
  let archiveOfV1: Archive | null = null;
  try {
    archiveOfV1 = await openArchive({ connectionString, log });
    const served = await serve({
      archive,
      archiveOfV1,
      host: settings.host,
      port: settings.port,
      keys,
      projects: settings.projects.map((project) => ({
        id: project.id,
        classesOf: carrierOf(project, settings.projects),
      })),
      ...(watch === undefined ? {} : { watch }),
      log,
      now: Date.now,
    });
    const ends = [served, archiveOfV1, archive];
    return {
      url: served.url,
      close: async () => {
        for (const end of ends) await end.close();
      },
    };
  } catch (error) {
    await archiveOfV1?.close();
    await archive.close();
    throw error;
  }
}

/** The class list does not depend on the key: of the projects of one platform one carries it for all. */
function carrierOf(project: Settings['projects'][number], all: Settings['projects']): string {
  if (project.classes !== 'none') return project.id;
  const carrier = all.find(
    ({ baseUrl, classes }) => baseUrl === project.baseUrl && classes !== 'none',
  );
  return carrier?.id ?? project.id;
}
