// Reading tokens and their fees, as they are and as they were: the contents of analytics.token_history. There are few
// of them: a list is given whole.
import * as z from 'zod';
import type { RecordFilter } from '../catalogue.ts';
import {
  asOf,
  contentArguments,
  parseArguments,
  project,
  recordArguments,
  text,
} from './arguments.ts';
import { optional } from './check-arguments.ts';
import { columnsThen, inForceColumns, toVersion } from './selected-columns.ts';
import { token } from '../resources.ts';
import type { Reader } from './reader.ts';
import type { Flat, Token, Tokens } from './types.ts';

/** What tokens can be narrowed by, whoever asks. */
export const tokenFilters = {
  owner: text.describe('Only what this account owns'),
} satisfies Record<RecordFilter<'tokens'>, z.ZodType>;
const tokenArguments = z.strictObject({ project, ...optional({ ...tokenFilters, asOf }) });

/** $2 is the instant; null: now. */
const select = `
  select ${columnsThen(token)},
         case when coalesce(o.missing_since <= $2::timestamptz, h.is_current) then o.missing_since end as "missingSince"`;
const from = `
    from analytics.token_history h join archive.tokens o on o.project_id = h.project_id and o.symbol = h.symbol
   where h.project_id = $1 and o.project_id = $1`;
const isInForce = `
  case when $2::timestamptz is null then h.is_current
       else h.in_force_from <= $2 and (h.in_force_until is null or h.in_force_until > $2) end`;

export const createTokens = (reader: Reader): Tokens => ({
  list: async (given) => {
    const asked = parseArguments('tokens.list', tokenArguments, given);
    const { project, owner = null, asOf = null } = asked;
    const { rows } = await reader.query<Token>(
      `${select} ${from} and ${isInForce} and ($3::text is null or h.owner = $3) order by h.symbol`,
      [project, asOf, owner],
    );
    const taken = await reader.query<{ takenAt: string; height: string | null }>(
      `select taken_at as "takenAt", height::text from analytics.token_snapshots
        where project_id = $1 and taken_at <= coalesce($2::timestamptz, 'infinity')`,
      [project, asOf],
    );
    const { takenAt = null, height = null } = taken.rows[0] ?? {};
    return { items: rows, takenAt, height };
  },
  get: async (project, symbol, at = {}) => {
    const given = { project, id: symbol, ...at };
    const key = parseArguments('tokens.get', contentArguments, given);
    const { rows } = await reader.query<Token>(
      `${select} ${from} and h.symbol = $3 and o.symbol = $3 and ${isInForce}`,
      [key.project, key.asOf ?? null, key.id],
    );
    return rows[0] ?? null;
  },
  history: async (project, symbol) => {
    const key = parseArguments('tokens.history', recordArguments, { project, id: symbol });
    const { rows } = await reader.query<Flat<Token>>(
      `${select}, ${inForceColumns}
       ${from} and h.symbol = $3 and o.symbol = $3
       order by h.in_force_from, h.is_current, h.raw_sha256`,
      [key.project, null, key.id],
    );
    return rows.map(toVersion);
  },
});
