// An archive that reads some days of the window only: a first sync of ten days takes a quarter of the time of a whole
// one.
import { addDays, dayOf, daysIn, windowAt } from '../../src/day.ts';
import { silentLog } from '../../src/log.ts';
import type { Day, Instant } from '../../src/model.ts';
import type { Simulator } from '../../src/simulator/simulator-server.ts';
import { openDb, withTx } from '../../src/store/db.ts';
import { addSlices, noDeadline } from '../../src/store/ledger.ts';
import { saveProject } from '../../src/store/projects.ts';
import { listsOf } from '../../src/sync/enter-days.ts';
import type { Worker } from '../../src/sync/worker.ts';

type Of = Pick<Worker, 'db' | 'projectId' | 'source' | 'scope'>;

/** All other days of the window are in the ledger, open, and never due. To be called before the first run. */
export async function leaveOut(of: Of, now: Instant, days: readonly Day[]): Promise<void> {
  const window = windowAt(now);
  await saveProject(of.db, of.projectId, of.source, window.from, now);
  const others = daysIn(window).filter((day) => !days.includes(day));
  await enterUndue(of, now, others);
}

/**
 * So are all days between the newest in the ledger and this moment's own. To be called when the clock was set to it.
 */
export async function leaveOutUntil(of: Of, now: Instant): Promise<void> {
  const { rows } = await of.db.query<{ day: Day }>(
    'select max(day) as day from sync.slices where project_id = $1',
    [of.projectId],
  );
  await enterUndue(
    of,
    now,
    daysIn({ from: addDays(rows[0]?.day ?? dayOf(now), 1), to: dayOf(now) }),
  );
}

async function enterUndue(
  { db, projectId, scope }: Of,
  dueAt: Instant,
  days: readonly Day[],
): Promise<void> {
  const slices = listsOf(scope).flatMap((list) =>
    days.map((day) => ({ projectId, ...list, day, dueAt, deadlineAt: noDeadline })),
  );
  await withTx(db, (tx) => addSlices(tx, slices));
  await db.query(
    'update sync.slices set due_at = null where project_id = $1 and day = any ($2::date[])',
    [projectId, days],
  );
}

/** The same for commands whose settings name no project, against this simulator. */
export async function readOnly(
  connectionString: string,
  simulator: Simulator,
  days: readonly Day[],
  projectId = 'default',
): Promise<void> {
  const db = await openDb({ connectionString, log: silentLog() });
  try {
    const source = { baseUrl: simulator.url, apiKey: simulator.projects[0]?.apiKey ?? '' };
    const of = { db, projectId, source, scope: { classes: 'all' } as const };
    await leaveOut(of, simulator.clock.now(), days);
  } finally {
    await db.close();
  }
}
