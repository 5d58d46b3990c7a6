// The data dictionary: what views and columns mean goes from the catalogue into the database's comments, and what
// people and their tools may read is told as these comments say it.
import { questions, type AnyQuestion } from '../catalogue.ts';
import type { Queryable } from '../store/db.ts';
import type { Comment } from '../store/migrate.ts';

export const viewComments = (): Comment[] =>
  Object.values(questions as Record<string, AnyQuestion>).flatMap(
    ({ view, summary, about, fields }): Comment[] => [
      { of: 'view', name: view, says: [summary, about ?? []].flat().join('. ').replace(/\.$/, '') },
      ...Object.values(fields).map(({ column, meaning }): Comment => ({
        of: 'column',
        name: `${view}.${column}`,
        says: meaning,
      })),
    ],
  );

export type Described = { name: string; type: string; meaning: string };

export type DictionaryEntry = {
  /** With its schema: `analytics.orders_by_day`; of a function with the names and types of its arguments. */
  name: string;
  kind: 'view' | 'table' | 'function';
  meaning: string;
  /** In their order; of a function the columns it returns, none where it returns one value. */
  columns: Described[];
};

/** Views, then functions, then tables, each by name; all that the role outlast_reader may see. */
export async function readDictionary(db: Queryable): Promise<DictionaryEntry[]> {
  const relations = await db.query<DictionaryEntry>(
    `select n.nspname || '.' || c.relname                            as name,
            case c.relkind when 'v' then 'view' else 'table' end     as kind,
            coalesce(obj_description(c.oid, 'pg_class'), '')         as meaning,
            (select jsonb_agg(jsonb_build_object(
                                'name', a.attname,
                                'type', format_type(a.atttypid, a.atttypmod),
                                'meaning', coalesce(col_description(c.oid, a.attnum), ''))
                              order by a.attnum)
               from pg_attribute a
              where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('analytics', 'archive')
        -- Partitioned tables too: there may be some where tables are distributed.
        and c.relkind in ('v', 'r', 'p')
      order by c.relkind = 'v' desc, n.nspname, c.relname`,
  );
  const functions = await db.query<DictionaryEntry>(
    `select format('%s.%s(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) as name,
            'function'                                               as kind,
            coalesce(obj_description(p.oid, 'pg_proc'), '')          as meaning,
            (select coalesce(jsonb_agg(jsonb_build_object('name', name, 'type', format_type(type, null), 'meaning', '')
                                       order by place), '[]')
               from unnest(p.proargnames, p.proallargtypes, p.proargmodes)
                    with ordinality as argument(name, type, mode, place)
              where mode = 't')                                      as columns
       from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname = 'analytics'
      order by 1`,
  );
  const isView = ({ kind }: DictionaryEntry): boolean => kind === 'view';
  return [
    ...relations.rows.filter(isView),
    ...functions.rows,
    ...relations.rows.filter((entry) => !isView(entry)),
  ];
}
