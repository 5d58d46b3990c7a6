// The HTTP server as `start` and `demo` run it: an archive opened for reading, and who may read it.
import { causeChain } from '../errors.ts';
import type { Log } from '../log.ts';
import { serve, type Served } from '../http/server.ts';
import type { EnterOperations } from '../http/v1/watch.ts';
import { openArchive } from '../query/archive.ts';
import type { Archive } from '../query/types.ts';
import type { Settings } from '../settings/settings.ts';
import { ofReplica } from './app.ts';
import { readReaders } from './readers.ts';

/**
 * `primary`: where to read unless the settings name a replica. Throws settings `readers_invalid` or `serve_failed`, and
 * what opening an archive throws.
 */
export async function startServing(
  settings: Settings,
  primary: string,
  log: Log,
  watch?: EnterOperations,
): Promise<Served> {
  const keys = readReaders(settings);
  const connectionString = await addressToRead(settings, primary, log);
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

/** The read replica's address where there is one that answers: nothing waits for it. */
async function addressToRead(
  { readDatabase }: Settings,
  primary: string,
  log: Log,
): Promise<string> {
  if (readDatabase.kind === 'embedded' || readDatabase.isReplica !== true) return primary;
  try {
    await (await openArchive({ connectionString: readDatabase.url, max: 1, log })).close();
    return readDatabase.url;
  } catch (error) {
    log.warn(
      { reason: causeChain(ofReplica(error)) },
      'The read replica cannot be read: HTTP answers from DATABASE_URL until the next start',
    );
    return primary;
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
