// What a list should hold besides what each record says of itself: every record that a committed page showed, and the
// bytes of every reject.
import type { ProjectId, Resource } from '../model.ts';
import { readRejects, readShownUnheld, type Listed, type Narrowed } from '../store/contents.ts';
import type { Tx } from '../store/db.ts';
import type { Report } from './finding.ts';

/** P1: the ledger never claims a row that is not held. */
export async function checkShown(
  tx: Tx,
  of: Listed,
  days: Narrowed,
  report: Report,
): Promise<void> {
  await readShownUnheld(tx, of, days, async (unheld) => {
    for (const { day, id } of unheld) {
      const says = 'a committed page showed it, and no row holds it';
      await report({ kind: 'missing', when: day, id, says });
    }
  });
}

/** Returns how many rejects there are. */
export async function checkRejects(
  tx: Tx,
  of: { projectId: ProjectId; resource: Resource },
  days: Narrowed,
  report: Report,
): Promise<number> {
  let checked = 0;
  await readRejects(tx, of, days, async (rejects) => {
    for (const { day, sha256, is_altered: isAltered } of rejects) {
      checked += 1;
      if (!isAltered) continue;
      const says = `the bytes of reject ${sha256} have another digest`;
      await report({ kind: 'altered', when: day, id: null, says });
    }
  });
  return checked;
}
