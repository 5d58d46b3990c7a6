// Reading tokens and their fees. There are few of them: a list is given whole.
import { parseArguments, recordArguments, tokenArguments } from './arguments.ts';
import type { Reader } from './reader.ts';
import type { Token, TokenList, Tokens } from './types.ts';

type Row = Record<
  | 'name'
  | 'min_unit'
  | 'initial_supply'
  | 'max_supply'
  | 'owner'
  | 'issue_fee_denom'
  | 'issue_fee_amount'
  | 'mint_fee_denom'
  | 'mint_fee_amount'
  | 'height'
  | 'missing_since'
  | 'token'
  | 'fees',
  string | null
> & {
  symbol: string;
  scale: number | null;
  mintable: boolean | null;
  raw: string;
  raw_bytes: Buffer | null;
  sha256: string;
  unread: string[];
  observed_at: string;
  first_seen_at: string;
  changed_at: string;
};

// As text: read as jsonb they would be parsed, and their numbers rounded.
const columns = `symbol, name, min_unit, scale, initial_supply, max_supply, mintable, owner, issue_fee_denom,
  issue_fee_amount, mint_fee_denom, mint_fee_amount, height::text, raw::text, raw_bytes,
  (raw -> 'token')::text as token, (raw -> 'fees')::text as fees,
  encode(raw_sha256, 'hex') as sha256, unread, observed_at, first_seen_at, changed_at, missing_since`;

export const createTokens = (reader: Reader): Tokens => ({
  list: async (given) => {
    const { project, owner } = parseArguments('tokens.list', tokenArguments, given);
    const { rows } = await reader.query<Row>(
      `select ${columns} from archive.tokens
        where project_id = $1 and ($2::text is null or owner = $2)
        order by symbol`,
      [project, owner ?? null],
    );
    const taken = await reader.query<{ taken_at: string | null; height: string | null }>(
      'select taken_at, height::text from analytics.token_snapshots where project_id = $1',
      [project],
    );
    return {
      items: rows.map((row) => toToken(project, row)),
      takenAt: taken.rows[0]?.taken_at ?? null,
      height: taken.rows[0]?.height ?? null,
    } satisfies TokenList;
  },
  get: async (project, symbol) => {
    const key = parseArguments('tokens.get', recordArguments, { project, id: symbol });
    const { rows } = await reader.query<Row>(
      `select ${columns} from archive.tokens where project_id = $1 and symbol = $2`,
      [key.project, key.id],
    );
    const [row] = rows;
    return row === undefined ? null : toToken(key.project, row);
  },
});

function toToken(project: string, row: Row): Token {
  return {
    project,
    symbol: row.symbol,
    name: row.name,
    minUnit: row.min_unit,
    scale: row.scale,
    initialSupply: row.initial_supply,
    maxSupply: row.max_supply,
    mintable: row.mintable,
    owner: row.owner,
    issueFee: feeOf(row.issue_fee_denom, row.issue_fee_amount),
    mintFee: feeOf(row.mint_fee_denom, row.mint_fee_amount),
    height: row.height,
    tokenJson: row.token ?? 'null',
    feesJson: row.fees,
    rawJson: row.raw,
    rawBytes: row.raw_bytes,
    rawSha256: row.sha256,
    unread: row.unread,
    observedAt: row.observed_at,
    firstSeenAt: row.first_seen_at,
    changedAt: row.changed_at,
    missingSince: row.missing_since,
  };
}

const feeOf = (denom: string | null, amount: string | null): Token['issueFee'] =>
  denom === null && amount === null ? null : { denom, amount };
