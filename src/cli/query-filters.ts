// The filters of `outlast query`, from what a person types to what the library takes. Each mistake is named by its option.
import { settingsError } from '../errors.ts';
import type { Resource } from '../model.ts';
import type {
  NftClassFilters,
  OrderFilters,
  OrderStatus,
  TransactionQuery,
} from '../query/types.ts';
import type { Format } from './query-output.ts';

export type QueryFlags = {
  project?: string;
  id?: string;
  from?: string;
  to?: string;
  newestFirst?: true;
  limit?: string;
  count?: true;
  format?: Format;
  json?: true;
  asOf?: string;
  history?: true;
  status?: string;
  module?: string;
  account?: string;
  owner?: string;
  name?: string;
  txHash?: string;
};

export type FiltersOf = {
  orders: OrderFilters;
  nft_classes: NftClassFilters;
  transactions: Pick<TransactionQuery, 'status' | 'module'>;
  tokens: { owner?: string };
};

/** `id` finds what it names by its key; the other filters then have nothing to narrow. */
export type Filters<Given> = { id: string | null; rest: Given };

const readers: { [Of in Resource]: (flags: QueryFlags) => FiltersOf[Of] } = {
  orders: ({ status, account }) => ({
    ...(status === undefined ? {} : { status: statusesOf(status, statusWords) }),
    ...(account === undefined ? {} : { account }),
  }),
  nft_classes: ({ owner, name, txHash }) => ({
    ...(owner === undefined ? {} : { owner }),
    ...(name === undefined ? {} : { name }),
    // Upper-case hex as the platform gives it (wire: always), however it was copied.
    ...(txHash === undefined ? {} : { txHash: txHash.toUpperCase() }),
  }),
  transactions: ({ status, module }) => ({
    ...(status === undefined ? {} : { status: statusesOf(status, resultWords) }),
    ...(module === undefined ? {} : { module }),
  }),
  tokens: ({ owner }) => (owner === undefined ? {} : { owner }),
};

/** Throws settings `bad_filter`. */
export function readFilters<Of extends Resource>(
  resource: Of,
  flags: QueryFlags,
): Filters<FiltersOf[Of]> {
  const { account, owner, name, txHash, module } = flags;
  for (const [option, text] of Object.entries({
    '--account': account,
    '--owner': owner,
    '--name': name,
    '--tx-hash': txHash,
    '--module': module,
  })) {
    if (text !== undefined) checkText(option, text, 1000);
  }
  const id = flags.id ?? null;
  if (id !== null) checkId(flags, id);
  else if (flags.history === true) {
    throw settingsError('bad_filter', '--history is that of one record: name it with --id.');
  }
  return { id, rest: readers[resource](flags) };
}

function checkText(option: string, text: string, most: number): void {
  if (text === '' || text.length > most || /[\0\p{Surrogate}]/u.test(text)) {
    throw settingsError('bad_filter', `${option} needs text of 1 to ${most} characters.`);
  }
}

function checkId(flags: QueryFlags, id: string): void {
  checkText('--id', id, 512);
  const others = (
    ['from', 'to', 'status', 'account', 'owner', 'name', 'txHash', 'module'] as const
  ).filter((one) => flags[one] !== undefined);
  if (others.length > 0) {
    throw settingsError('bad_filter', '--id names one record: leave the other filters out.');
  }
}

export const statusWords: Record<OrderStatus, string> = {
  1: 'pending',
  2: 'succeeded',
  3: 'failed',
};

/** Of results of operations (docs/platform.md §3.2). */
export const resultWords: Record<0 | 1 | 2 | 3, string> = {
  0: 'processing',
  1: 'succeeded',
  2: 'failed',
  3: 'unprocessed',
};

function statusesOf<Status extends number>(text: string, words: Record<Status, string>): Status[] {
  const known = Object.keys(words).map((status) => Number(status) as Status);
  return text.split(',').map((word) => {
    const found = known.find(
      (status) => words[status] === word.trim().toLowerCase() || String(status) === word.trim(),
    );
    if (found !== undefined) return found;
    const all = `${known.map((status) => words[status]).join(', ')} (or ${known.join(', ')})`;
    throw settingsError('bad_filter', `--status "${word}" is none of ${all}.`);
  });
}
