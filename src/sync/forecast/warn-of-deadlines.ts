// A run says early what it will not manage: it reckons at its start, and again while it lasts, for sizes become known
// only by reading. It warns once and never fails for it.
import { dayOf } from '../../day.ts';
import { isPastDue } from '../../store/work-ahead.ts';
import type { Worker } from '../worker.ts';
import { foresee } from './read-forecast.ts';

const everyMs = 5 * 60_000;

export type DeadlineWatch = {
  /** Ends the reckoning; waits for one in progress. */
  close(): Promise<void>;
};

type Watched = Pick<Worker, 'db' | 'projectId' | 'platform' | 'settings' | 'log'>;

/**
 * Watches the deadlines until it has warned of one or is closed; `againMs` is how often it reckons, in milliseconds.
 */
export function watchDeadlines(worker: Watched, againMs: number = everyMs): DeadlineWatch {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const reckon = async (): Promise<void> => {
    // What is wrong with the database the work itself meets, and tells.
    const hasWarned = await warnOf(worker).catch(() => true);
    if (!hasWarned && !isClosed) timer = setTimeout(again, againMs);
  };
  const again = (): void => {
    reckoning = reckon();
  };
  let reckoning = reckon();
  return {
    close: () => {
      isClosed = true;
      clearTimeout(timer);
      return reckoning;
    },
  };
}

/** Warns of the nearest deadline that cannot be met. True if it did. */
async function warnOf({ db, projectId, platform, settings, log }: Watched): Promise<boolean> {
  const now = platform.clock.now();
  // A run that finds nothing but today due costs nothing here; and what it could say was said before.
  if (!(await isPastDue(db, projectId, now, dayOf(now)))) return false;
  const { months, perSecond } = await foresee(db, projectId, settings, now);
  const late = months.filter(({ fits }) => fits === 'no');
  const [first] = late;
  if (first === undefined) return false;
  log.warn(
    {
      projectId,
      month: first.month.slice(0, 7),
      before: new Date(first.until ?? now).toISOString(),
      daysTooLate: late.reduce((sum, one) => sum + one.tooLate.length, 0),
      requests: first.decisive.requests,
      takesSeconds: Math.ceil(first.decisive.takesMs / 1000),
      leftSeconds: Math.floor(first.decisive.leftMs / 1000),
      perSecond,
      perSecondNeeded: first.perSecondNeeded,
    },
    'What is due cannot be done before its deadline at this rate: outlast plan tells more',
  );
  return true;
}
