// The filters of `outlast query`, from what a person types to what the library takes. Each mistake is named by its option.
import { settingsError } from '../errors.ts';
import type { NftClassFilters, OrderFilters, OrderStatus } from '../query/types.ts';
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
  status?: string;
  account?: string;
  owner?: string;
  name?: string;
  txHash?: string;
};

/** `id` finds one record by its key; the other filters then have nothing to narrow. */
export type Filters<Given> = { id: string | null; rest: Given };

/** Throws settings `bad_filter`. */
export function readFilters(flags: QueryFlags): {
  orders: Filters<OrderFilters>;
  nftClasses: Filters<NftClassFilters>;
} {
  const { status, account, owner, name, txHash } = flags;
  for (const [option, text] of Object.entries({
    '--account': account,
    '--owner': owner,
    '--name': name,
    '--tx-hash': txHash,
  })) {
    if (text !== undefined) checkText(option, text, 1000);
  }
  const id = flags.id ?? null;
  if (id !== null) checkId(flags, id);
  return {
    orders: {
      id,
      rest: {
        ...(status === undefined ? {} : { status: statusesOf(status) }),
        ...(account === undefined ? {} : { account }),
      },
    },
    nftClasses: {
      id,
      rest: {
        ...(owner === undefined ? {} : { owner }),
        ...(name === undefined ? {} : { name }),
        // Upper-case hex as the platform gives it (wire: always), however it was copied.
        ...(txHash === undefined ? {} : { txHash: txHash.toUpperCase() }),
      },
    },
  };
}

function checkText(option: string, text: string, most: number): void {
  if (text === '' || text.length > most || /[\0\p{Surrogate}]/u.test(text)) {
    throw settingsError('bad_filter', `${option} needs text of 1 to ${most} characters.`);
  }
}

function checkId(flags: QueryFlags, id: string): void {
  checkText('--id', id, 512);
  const others = (['from', 'to', 'status', 'account', 'owner', 'name', 'txHash'] as const).filter(
    (one) => flags[one] !== undefined,
  );
  if (others.length > 0) {
    throw settingsError('bad_filter', '--id names one record: leave the other filters out.');
  }
}

export const statusWords: Record<OrderStatus, string> = {
  1: 'pending',
  2: 'succeeded',
  3: 'failed',
};

function statusesOf(text: string): OrderStatus[] {
  return text.split(',').map((word) => {
    const found = ([1, 2, 3] as const).find(
      (status) =>
        statusWords[status] === word.trim().toLowerCase() || String(status) === word.trim(),
    );
    if (found !== undefined) return found;
    throw settingsError(
      'bad_filter',
      `--status "${word}" is none of pending, succeeded, failed (or 1, 2, 3).`,
    );
  });
}
