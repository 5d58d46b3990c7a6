// What `outlast verify --platform` asks of each project in the settings: every proved slice of the window once more,
// or, where they are named, every final result.
import type { Log } from '../log.ts';
import { isListed, type Resource } from '../model.ts';
import type { Settings } from '../settings/settings.ts';
import type { Db } from '../store/db.ts';
import {
  countProvedDays,
  lookUpResults,
  type DayAskedAgain,
  type ResultAskedAgain,
} from '../sync/ask-proved-days-again.ts';
import type { Finding } from '../verify/finding.ts';
import { createWorker } from './create-workers.ts';
import { printError } from './print.ts';
import type { ProgressLine } from './progress.ts';
import { nothingAsked, type PlatformComparison, type VerifyPrinter } from './verify-print.ts';

/** Asks for those of these projects that are in the settings. */
export async function verifyWithPlatform(
  settings: Settings,
  { projects, resource }: { projects: string[]; resource: Resource | undefined },
  db: Db,
  log: Log,
  signal: AbortSignal,
  { output, progress }: { output: VerifyPrinter; progress: ProgressLine },
): Promise<PlatformComparison> {
  const asked = nothingAsked();
  for (const project of settings.projects.filter(({ id }) => projects.includes(id))) {
    const worker = createWorker(project, settings, db, log);
    const list = resource !== undefined && isListed(resource) ? resource : null;
    let done = 0;
    const count = (unit: string): void =>
      progress.update({ name: `${project.id}, the platform`, done: ++done, unit });
    try {
      const isAnswered =
        resource === 'transactions'
          ? await lookUpResults({ ...worker, signal }, async (result) => {
              asked.results[result.outcome] += 1;
              count('results');
              if (result.outcome !== 'differs') return;
              await output.finding(findingOfResult(project.id, result));
            })
          : await countProvedDays({ ...worker, signal }, list, async (slice) => {
              asked.slices.push(slice);
              count('proved days');
              if (slice.outcome !== 'differs') return;
              await output.finding(findingOf(slice));
            });
      if (isAnswered) continue;
      asked.isComplete = false;
      progress.end();
      printError(
        `${project.id}: not asked, for the platform refused its key; \`outlast sync\` asks again`,
      );
    } catch (error) {
      asked.failure = error as Error;
      break;
    } finally {
      await worker.close();
    }
  }
  return asked;
}

const findingOf = ({ projectId, resource, owner, day, total, before }: DayAskedAgain): Finding => ({
  kind: 'platform',
  project_id: projectId,
  resource,
  when: day,
  id: null,
  says: `the platform counts ${total} now${owner === '' ? '' : ` for ${owner}`}, and ${before} when it was proved; \`outlast sync\` reads the day again`,
});

const findingOfResult = (projectId: string, result: ResultAskedAgain): Finding => ({
  kind: 'platform',
  project_id: projectId,
  resource: 'transactions',
  when: null,
  id: result.operationId,
  says: `by ${result.apiVersion}: ${result.says}`,
});
