// `/v1beta1/nft/classes` from the archive (docs/platform.md §4.7): the same filters, offset paging and envelope, for any date.
import type { Archive } from '../query/types.ts';
import { listAnswer, type Answer } from './answers.ts';
import { daysIn, orderIn, textIn, wholeIn } from './parameters.ts';
import type { Query } from '../platform/target.ts';

const greatestLimit = 200;
/** As the archive's ids and other texts (query/arguments.ts). */
const maxIdLength = 512;
const maxTextLength = 1000;

export async function answerClasses(
  archive: Archive,
  project: string,
  query: Query,
): Promise<Answer> {
  const scope = {
    project,
    ...(await daysIn(query, archive, project, 'nft_classes')),
    order: orderIn(query),
    ...named('id', textIn(query, 'id', maxIdLength)),
    ...named('name', textIn(query, 'name', maxTextLength)),
    ...named('owner', textIn(query, 'owner', maxTextLength)),
    ...named('txHash', textIn(query, 'tx_hash', maxTextLength)),
  };
  const limit = wholeIn(query, 'limit', 10, 1, greatestLimit);
  const offset = wholeIn(query, 'offset', 0, 0, Number.MAX_SAFE_INTEGER);
  const total = await archive.nftClasses.count(scope);
  // Behind the end there is nothing to read one's way to.
  const items =
    offset < total ? (await archive.nftClasses.list({ ...scope, limit, offset })).items : [];
  return listAnswer({ offset, limit, total_count: total }, 'classes', items);
}

const named = <Name extends string>(
  name: Name,
  value: string | undefined,
): Partial<Record<Name, string>> =>
  value === undefined ? {} : ({ [name]: value } as Partial<Record<Name, string>>);
