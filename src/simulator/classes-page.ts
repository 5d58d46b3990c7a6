// The class list (docs/platform.md §4.7): filters, and pages by offset.
import type { QueryParameters } from '../platform/target.ts';
import type { ClassFilter } from './classes.ts';
import type { RecordList } from './list.ts';
import {
  badRequest,
  countedRecords,
  encodePage,
  limitIn,
  listedRecords,
  simulatedRowsOf,
  totalText,
  type SimulatedAnswer,
  type SimulatedPage,
  type PageContext,
} from './page.ts';
import { dateBoundsOf, isAscending, wholeIn, windowStart } from './query.ts';

export function simulatedClassesPage(
  query: QueryParameters,
  list: RecordList<ClassFilter>,
  context: PageContext,
): SimulatedPage | SimulatedAnswer {
  const { now, dialect } = context;
  const limit = limitIn(query, dialect.maxClasses, dialect);
  const offset = wholeIn(query, 'offset', 0, 0);
  const earliest = dialect.classesWindow ? windowStart(now, dialect) : -Infinity;
  const bounds = dateBoundsOf(query, dialect, earliest);
  const ascending = isAscending(query, dialect);
  if (typeof limit === 'string') return badRequest(limit);
  if (typeof offset === 'string') return badRequest(offset);
  if (typeof bounds === 'string') return badRequest(bounds);
  if (ascending === null) return badRequest('sort_by must be DATE_ASC or DATE_DESC');

  const selection = list.select(bounds.from, bounds.to, classFilter(query), now);
  const size = listedRecords(selection.total, dialect);
  const first = Math.min(offset, size);
  const end = Math.min(first + limit, size);
  const isCounted = dialect.totals !== 'first' || offset === 0;
  return {
    resource: 'nft_classes',
    rows: simulatedRowsOf({ selection, ascending, first, end }, now),
    total: countedRecords(selection.total, dialect),
    write: (rows, total) =>
      encodePage(
        `{"data":{"offset":${offset},"limit":${limit}${isCounted ? totalText(total, dialect.totals, rows) : ''}`,
        'classes',
        rows,
        context,
      ),
  };
}

function classFilter(query: QueryParameters): ClassFilter | null {
  const filter: ClassFilter = {};
  const [id, name] = [query.get('id'), query.get('name')];
  const [owner, txHash] = [query.get('owner'), query.get('tx_hash')];
  if (id !== undefined) filter.id = id;
  if (name !== undefined) filter.name = name;
  if (owner !== undefined) filter.owner = owner;
  if (txHash !== undefined) filter.txHash = txHash;
  return Object.keys(filter).length === 0 ? null : filter;
}
