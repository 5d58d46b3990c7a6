// Tables. On a phone each row becomes a block of its own, a line for each cell under its column's name, unless the
// columns are few and narrow: then the table scrolls by itself where it is too wide.
import type { ComponentChildren } from 'preact';

export type TableColumn<Row> = {
  head: string;
  /** A class of style.ts: numbers stand at the right, times do not break, wide is text that needs room. */
  class?: 'n' | 't' | 'wide' | undefined;
  /** It names its row. */
  isName?: boolean;
  cell: (row: Row) => ComponentChildren;
  /** Of these rows it stands in the place of all columns after it as well. */
  spansRest?: (row: Row) => boolean;
};

export function Table<Row>(props: {
  /** For whoever sees no heading above it. */
  caption: string;
  columns: readonly TableColumn<Row>[];
  rows: readonly Row[];
  rowClass?: (row: Row) => string | undefined;
  isNarrow?: boolean;
}) {
  const { caption, columns, rows, rowClass, isNarrow = false } = props;
  return (
    // The roles: drawn as blocks it would be no table to a screen reader.
    // Whoever scrolls by keyboard must be able to get there.
    <div
      class={`scroll ${isNarrow ? 'narrow' : 'stacks'}`}
      tabIndex={0}
      role="region"
      aria-label={caption}
    >
      <table role="table">
        <caption>{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th scope="col" class={column.class} role="columnheader">
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr class={rowClass?.(row)} role="row">
              <Cells row={row} columns={columns} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cells<Row>(props: { row: Row; columns: readonly TableColumn<Row>[] }) {
  const { row, columns } = props;
  const spanning = columns.findIndex(({ spansRest }) => spansRest?.(row) === true);
  const shown = spanning === -1 ? columns : columns.slice(0, spanning + 1);
  return shown.map((column, i) =>
    column.isName === true ? (
      <th scope="row" class={column.class} role="rowheader">
        {column.cell(row)}
      </th>
    ) : i === spanning ? (
      <td class={column.class} colSpan={columns.length - spanning} role="cell">
        {column.cell(row)}
      </td>
    ) : (
      <td class={column.class} data-head={column.head} role="cell">
        {column.cell(row)}
      </td>
    ),
  );
}
