// Reading tokens and their fees, as they are and as they were: the contents of analytics.token_history. There are few
// of them: a list is given whole.
import * as z from 'zod';
import {
  asOf,
  contentArguments,
  parseArguments,
  project,
  recordArguments,
  text,
} from './arguments.ts';
import { optional } from './check.ts';
import type { Reader } from './reader.ts';
import type { Token, Tokens } from './types.ts';

/** What tokens can be narrowed by, whoever asks. */
export const tokenFilters = { owner: text.describe('Only what this account owns') };
const tokenArguments = z.strictObject({ project, ...optional({ ...tokenFilters, asOf }) });

type Row = Omit<Token, 'issueFee' | 'mintFee'> & {
  issueDenom: string | null;
  issueAmount: string | null;
  mintDenom: string | null;
  mintAmount: string | null;
};

/** $2 is the instant; null: now. */
const select = `
  select h.project_id as "project", h.symbol, h.name, h.min_unit as "minUnit", h.scale,
         h.initial_supply as "initialSupply", h.max_supply as "maxSupply", h.mintable, h.owner,
         h.issue_fee_denom as "issueDenom", h.issue_fee_amount as "issueAmount",
         h.mint_fee_denom as "mintDenom", h.mint_fee_amount as "mintAmount", h.height::text as "height",
         -- As text: read as jsonb they would be parsed, and their numbers rounded.
         coalesce((h.raw -> 'token')::text, 'null') as "tokenJson", (h.raw -> 'fees')::text as "feesJson",
         h.raw::text as "rawJson", h.raw_bytes as "rawBytes", h.raw_sha256 as "rawSha256", h.unread,
         h.in_force_from as "observedAt", t.first_seen_at as "firstSeenAt", t.changed_at as "changedAt",
         case when coalesce(t.missing_since <= $2::timestamptz, h.is_current) then t.missing_since end as "missingSince"`;
const from = `
    from analytics.token_history h join archive.tokens t on t.project_id = h.project_id and t.symbol = h.symbol
   where h.project_id = $1 and t.project_id = $1`;
const isInForce = `
  case when $2::timestamptz is null then h.is_current
       else h.in_force_from <= $2 and (h.in_force_until is null or h.in_force_until > $2) end`;

export const createTokens = (reader: Reader): Tokens => ({
  list: async (given) => {
    const asked = parseArguments('tokens.list', tokenArguments, given);
    const { project, owner = null, asOf = null } = asked;
    const { rows } = await reader.query<Row>(
      `${select} ${from} and ${isInForce} and ($3::text is null or h.owner = $3) order by h.symbol`,
      [project, asOf, owner],
    );
    const taken = await reader.query<{ takenAt: string; height: string | null }>(
      `select taken_at as "takenAt", height::text from analytics.token_snapshots
        where project_id = $1 and taken_at <= coalesce($2::timestamptz, 'infinity')`,
      [project, asOf],
    );
    const { takenAt = null, height = null } = taken.rows[0] ?? {};
    return { items: rows.map(toToken), takenAt, height };
  },
  get: async (project, symbol, at = {}) => {
    const given = { project, id: symbol, ...at };
    const key = parseArguments('tokens.get', contentArguments, given);
    const { rows } = await reader.query<Row>(
      `${select} ${from} and h.symbol = $3 and t.symbol = $3 and ${isInForce}`,
      [key.project, key.asOf ?? null, key.id],
    );
    return rows[0] === undefined ? null : toToken(rows[0]);
  },
  history: async (project, symbol) => {
    const key = parseArguments('tokens.history', recordArguments, { project, id: symbol });
    const { rows } = await reader.query<
      Row & { inForceFrom: string; inForceUntil: string | null; isCurrent: boolean }
    >(
      `${select}, h.in_force_from as "inForceFrom", h.in_force_until as "inForceUntil", h.is_current as "isCurrent"
       ${from} and h.symbol = $3 and t.symbol = $3
       order by h.in_force_from, h.is_current, h.raw_sha256`,
      [key.project, null, key.id],
    );
    return rows.map(({ inForceFrom, inForceUntil, isCurrent, ...row }) => ({
      item: toToken(row),
      inForceFrom,
      inForceUntil,
      isCurrent,
    }));
  },
});

const toToken = ({ issueDenom, issueAmount, mintDenom, mintAmount, ...row }: Row): Token => ({
  ...row,
  issueFee: feeOf(issueDenom, issueAmount),
  mintFee: feeOf(mintDenom, mintAmount),
});

const feeOf = (denom: string | null, amount: string | null): Token['issueFee'] =>
  denom === null && amount === null ? null : { denom, amount };
