// `/v1beta1/nft/classes` from the archive (docs/platform.md §4.7): the same filters, offset paging and envelope, for
// any date.
import * as z from 'zod';
import { offset, whole } from '../../query/arguments.ts';
import { nftClassFilters } from '../../query/nft-classes.ts';
import { dates, listAnswer, selectedBy } from './list-answers.ts';
import { ofPlatform, platformRoute, record } from './platform-route.ts';

const { txHash, ...filters } = nftClassFilters;

export const classesRoute = platformRoute({
  ...ofPlatform,
  path: '/v1beta1/nft/classes',
  name: 'platformNftClasses',
  summary: 'NFT classes, for any date',
  about:
    'Paged by offset. Every class before the page is read to get there: narrow long lists by date.',
  inQuery: {
    offset,
    limit: whole(1, 200).describe('10 by default'),
    ...filters,
    tx_hash: txHash,
    ...dates,
  },
  answer: z.object({
    data: z.object({
      offset: z.int(),
      limit: z.int(),
      total_count: z.int(),
      classes: z.array(record),
    }),
  }),
  read: async (
    { offset: from = 0, limit = 10, tx_hash: hash, start_date, end_date, sort_by, ...named },
    { archive, project: asked, classesOf },
  ) => {
    const project = classesOf(asked);
    const range = { start_date, end_date, sort_by };
    const scope = {
      project,
      ...selectedBy(range),
      ...named,
      ...(hash === undefined ? {} : { txHash: hash }),
    };
    const total = await archive.nftClasses.count(scope);
    // Behind the end there is nothing to read one's way to.
    const items =
      from < total ? (await archive.nftClasses.list({ ...scope, limit, offset: from })).items : [];
    return listAnswer({ offset: from, limit, total_count: total }, 'classes', items);
  },
});
