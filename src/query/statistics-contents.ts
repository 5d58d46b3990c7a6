// The contents that figures are made of: the rows of now, or, as of an instant, what was in force then under the days of now.
// Builds SQL; $1 is the project, `[$2, $3)` are the days, $4 is the instant.
import { inRange } from './periods.ts';

const inForce = `h.in_force_from <= $4 and (h.in_force_until is null or h.in_force_until > $4)`;

/** Without the account everything is in the index of figures. */
export function orderContents(needsAccount: boolean, isAsOf: boolean): string {
  const columns = [
    'status',
    'order_type',
    'amount',
    'number',
    ...(needsAccount ? ['account'] : []),
  ];
  if (!isAsOf) return `archive.orders where project_id = $1 and ${inRange('slice_day')}`;
  const then = columns.map((name) => (name === 'amount' ? 'h.amount_fen' : `h.${name}`));
  return contentsThen('orders', 'order', 'operation_id', columns, then);
}

export function classContents(needsOwner: boolean, isAsOf: boolean): string {
  const columns = ['nft_count', ...(needsOwner ? ['owner'] : [])];
  if (!isAsOf) return `archive.nft_classes where project_id = $1 and ${inRange('slice_day')}`;
  const then = columns.map((name) => `h.${name}`);
  return contentsThen('nft_classes', 'nft_class', 'id', columns, then);
}

/** Rows that had been observed by then, and of those that changed since the content that was in force. */
const contentsThen = (
  table: string,
  name: string,
  id: string,
  columns: readonly string[],
  then: readonly string[],
): string => `(
  select slice_day, ${columns.join(', ')}
    from archive.${table}
   where project_id = $1 and ${inRange('slice_day')} and observed_at <= $4::timestamptz
  union all
  select o.slice_day, ${then.join(', ')}
    from archive.${table} o,
         -- \`offset 0\` keeps this a query of its own: then the view reads one record, by its key, and not all.
         lateral (select * from analytics.${name}_history h
                   where h.project_id = $1 and h.${id} = o.${id} and ${inForce} offset 0) h
   where o.project_id = $1 and ${inRange('o.slice_day')} and o.observed_at > $4::timestamptz
     and exists (select from archive.${name}_versions v
                  where v.project_id = $1 and v.${id} = o.${id} and v.observed_at <= $4::timestamptz)) contents`;
