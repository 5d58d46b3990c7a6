// An archive that reads some days of the window only: a first sync of ten days takes a quarter of the time of a whole one.
import { daysIn, windowAt } from '../../src/day.ts';
import { silentLog } from '../../src/log.ts';
import type { Day, Instant } from '../../src/model.ts';
import type { Simulator } from '../../src/simulator/server.ts';
import { openDb } from '../../src/store/db.ts';
import { addSlices } from '../../src/store/ledger.ts';
import { saveProject } from '../../src/store/projects.ts';
import { listsOf } from '../../src/sync/plan.ts';
import { noDeadline } from '../../src/sync/policy.ts';
import type { Worker } from '../../src/sync/worker.ts';

/** All other days of the window are in the ledger, open, and never due. To be called before the first run. */
export async function leaveOut(
  { db, projectId, source, scope }: Pick<Worker, 'db' | 'projectId' | 'source' | 'scope'>,
  now: Instant,
  days: readonly Day[],
): Promise<void> {
  const window = windowAt(now);
  await saveProject(db, projectId, source, window.from, now);
  const others = daysIn(window).filter((day) => !days.includes(day));
  const slices = listsOf(scope).flatMap((list) =>
    others.map((day) => ({ projectId, ...list, day })),
  );
  await addSlices(
    db,
    slices.map((slice) => ({ ...slice, dueAt: now, deadlineAt: noDeadline })),
  );
  await db.query(
    'update sync.slices set due_at = null where project_id = $1 and day = any ($2::date[])',
    [projectId, others],
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
