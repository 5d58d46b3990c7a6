// The one question tests ask most: is the archive exactly what the platform shows? Needs no test runner.
import { listedResources } from '../../src/model.ts';
import type { Simulator } from '../../src/simulator/simulator-server.ts';
import type { Queryable } from '../../src/store/db.ts';

type Both = { simulator: Pick<Simulator, 'oracle'>; db: Queryable };

export type Difference = { id: string; archived: string | null; shown: string | null };

const idColumn = { orders: 'operation_id', nft_classes: 'id' };

/** Every record on which archive and platform differ: missing, extra, or not equal as a JSON value. */
export async function differences({ simulator, db }: Both): Promise<Difference[]> {
  const found: Difference[] = [];
  for (const resource of listedResources) {
    const { rows } = await db.query<{ id: string; raw: string }>(
      `select ${idColumn[resource]} as id, raw::text from archive.${resource}`,
    );
    const archived = new Map(rows.map((row) => [row.id, row.raw]));
    for (const { id, text } of simulator.oracle.shown(resource)) {
      const raw = archived.get(id) ?? null;
      archived.delete(id);
      if (raw === null || sorted(raw) !== sorted(text))
        found.push({ id, archived: raw, shown: text });
    }
    for (const [id, raw] of archived) found.push({ id, archived: raw, shown: null });
  }
  return found;
}

/** A JSON text with its keys sorted: jsonb does not keep their order. */
export function sorted(text: string): string {
  return JSON.stringify(JSON.parse(text), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
