// One day of a list with all that is known of it: what an auditor asks. One statement, so that nothing moves between
// its parts; each part is found by an index, whatever the archive holds besides.
import * as z from 'zod';
import { questions } from '../catalogue.ts';
import { listedResources } from '../model.ts';
import { tableShapes } from '../store/record-tables.ts';
import { day, isStorable, oneOf, parseArguments, project } from './arguments.ts';
import { columnsOfView, timeInJson } from './selected-columns.ts';
import type { Reader } from './reader.ts';
import type { DayQuery, DayReport } from './reports.ts';

const ownerSentence = 'must be an owner: text of at most 1000 characters, without NUL';
export const owner = z
  .string(ownerSentence)
  .max(1000, ownerSentence)
  .refine(isStorable, ownerSentence)
  .describe(
    'Of this owner’s list, where owners’ lists stand for the day; by default the whole list, or else the first owner’s',
  );
export const dayInPath = {
  resource: oneOf(listedResources).describe('One of the two lists'),
  day: day.describe('A UTC day, yyyy-MM-dd'),
};
const dayArguments = z.strictObject({ project, ...dayInPath, owner: owner.optional() });

/**
 * Rows as JSON, in the order and up to the number that `items` says: never in that of a table's key alone, for readers
 * avoid to sort (reader.ts), and would read the whole table along its key.
 */
const counted = (from: string, items: string, atMost = 100): string =>
  `json_build_object('count', (select count(*) ${from}),
                     'items', (select coalesce(json_agg(row_to_json(one)), '[]') from (${items} limit ${atMost}) one))`;

/** The rows `d` of the list that was chosen: $1 project, $2 resource, $3 day. */
const ofDay = 'd.project_id = $1 and d.resource = $2 and d.day = $3 and d.owner = c.owner';

function statementOf(resource: DayQuery['resource']): string {
  const { table, versions, key } = tableShapes[resource];
  const isOrders = resource === 'orders';
  const held = `from ${table} r where r.project_id = $1 and r.slice_day = $3
                  ${isOrders ? '' : `and (c.owner = '' or r.owner = c.owner)`}`;
  const missing = `${held} and r.missing_since is not null`;
  const changes = `from ${versions} v join (select project_id, ${key} ${held}) r using (project_id, ${key})`;
  const rejects = `from analytics.rejects d where ${ofDay}`;
  const readings = `from analytics.readings d where ${ofDay}`;
  // What the day's list brought stays for ever. It may stand under another day that shows it, too, or be another owner's
  // by now: then it is not held here, and not gone.
  const gone = `from sync.journal d cross join lateral unnest(d.ids) id
                 where ${ofDay} and d.kind in ('pages', 'contents', 'returned')
                   and not exists (select from ${table} r where r.project_id = $1 and r.${key} = id collate "C")`;
  const history = `from analytics.day_history d where ${ofDay}`;
  return `
    with c as materialized (
      select * from analytics.coverage
       where project_id = $1 and resource = $2 and day = $3 and ($4::text is null or owner = $4)
       order by owner limit 1
    )
    select ${columnsOfView(questions.coverage.fields, 'c')}, newest_page_at as "newestPageAt",
           (select array_agg(d.owner order by d.owner) from analytics.coverage d
             where d.project_id = $1 and d.resource = $2 and d.day = $3) as owners,
           (select count(*)::int ${held}) as records,
           ${isOrders ? `(select count(*)::int ${held} and r.status = 1)` : '0'} as pending,
           case when (select count(*) ${held}) + c.rejected < c.shown_total
                then (select count(distinct id)::int ${gone}) else 0 end as gone,
           ${counted(missing, `select ${key} as id, ${timeInJson('missing_since')} as since ${missing} order by missing_since desc, ${key}`)} as missing,
           ${counted(changes, `select ${key} as id, ${timeInJson('observed_at')} as "observedAt" ${changes} order by observed_at desc, ${key}`)} as changes,
           ${counted(rejects, `select sha256, reason, ${timeInJson('seen_at')} as "seenAt" ${rejects} order by seen_at desc, sha256`)} as rejects,
           ${counted(
             readings,
             `select begins_at as "beginsAt", ${timeInJson('began_at')} as "beganAt",
                    ${timeInJson('ended_at')} as "endedAt", shown, lacks, claims
                ${readings} order by reading_no desc`,
           )} as readings,
           ${counted(
             history,
             `select entry, ${timeInJson('entered_at')} as "enteredAt", kind, records, state, proof,
                     platform_total as "platformTotal", shown_total as "shownTotal", unresolved
                ${history} order by entry desc`,
             200,
           )} as history
      from c`;
}

/** Null where the ledger knows no such day of such a list. */
export async function readDayReport(reader: Reader, given: DayQuery): Promise<DayReport | null> {
  const query = parseArguments('day', dayArguments, given);
  const { rows } = await reader.query<DayReport>(statementOf(query.resource), [
    query.project,
    query.resource,
    query.day,
    query.owner ?? null,
  ]);
  return rows[0] ?? null;
}
