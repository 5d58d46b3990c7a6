// Small pieces that pages have in common: tables, times, exact numbers, text of any length, and hidden fields.
import type { ComponentChildren } from 'preact';
import type { View } from './view.ts';

/** To the second; as exact as it is held where one points at it. Nothing for none. */
export const Time = ({ at }: { at: string | null }) =>
  at === null ? null : (
    <time datetime={at} title={at}>
      {`${at.slice(0, 10)} ${at.slice(11, 19)}`}
    </time>
  );

/** More would only be sent: a table has no room for a hundred characters. */
const mostShown = 200;
const mostInTitle = 10_000;

/** Cut where the table has no room for it, with the whole where one points at it. */
export const Cut = ({ text }: { text: string | null }) =>
  text === null || text === '' ? null : (
    <span class="long" title={text.slice(0, mostInTitle)}>
      <bdi>{text.slice(0, mostShown)}</bdi>
    </span>
  );

/** A number, and what it counts. */
export const Tile = ({ value, name }: { value: string; name: string }) => (
  <div class="tile">
    <b>{value}</b>
    <span>{name}</span>
  </div>
);

/**
 * Foreign text: whatever its direction, what stands beside it stays where it is. `lang`: the archive's own words are
 * English on a Chinese page too; the platform's may be of any language.
 */
export const Foreign = ({ text, lang }: { text: string | null; lang?: 'en' }) => (
  <bdi lang={lang}>{text ?? ''}</bdi>
);

/** A sentence of the archive's own, which may name foreign text: with code between backticks. */
export const Said = ({ text, lang }: { text: string | null; lang?: 'en' }) => (
  <bdi lang={lang}>
    {(text ?? '').split('`').map((part, i) => (i % 2 === 0 ? part : <code>{part}</code>))}
  </bdi>
);

/** Names, and beside each what is known by it. */
export const Facts = ({ of }: { of: readonly (readonly [string, ComponentChildren])[] }) => (
  <dl class="facts">
    {of.map(([name, value]) => (
      <>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </>
    ))}
  </dl>
);

/** Decimal text with its thousands set apart, no digit lost. */
export const grouped = (decimal: string): string =>
  decimal.length > 60 ? decimal : decimal.replace(/\d(?=(\d{3})+(?!\d))(?<!\.\d*)/g, '$&,');

/** A form keeps the project, where there are several to choose from. */
export const ProjectField = ({ view }: { view: View }) =>
  view.projects.length > 1 ? <input type="hidden" name="project" value={view.project} /> : null;

/** What was asked cannot be: the library's own sentence. */
export const Refusal = ({ view, sentence }: { view: View; sentence: string | null }) =>
  sentence === null ? null : (
    <p class="notice" role="alert">
      {view.t('This cannot be asked:')} <Said text={sentence} lang="en" />
    </p>
  );

/** The field of an instant, under its name in the address. */
export const InstantField = (props: {
  view: View;
  id: string;
  value: string;
  label: string;
  isRequired?: boolean;
}) => (
  <>
    <label for={props.id}>{props.label}</label>
    <input
      id={props.id}
      name="as_of"
      value={readable(props.value)}
      placeholder="2026-11-01T00:00:00Z"
      title={props.view.t('an instant, such as 2026-11-01T00:00:00Z, or a day: at its end')}
      required={props.isRequired}
      spellcheck={false}
      autocomplete="off"
    />
  </>
);

/** Parsers of HTML take no NUL. */
export const readable = (text: string): string => text.replaceAll('\0', '\ufffd');

/** Foreign text in the title of a window: its direction ends with it. */
export const isolated = (text: string): string => `\u2068${text}\u2069`;

/** Pages of the documentation as they are, which is in English. */
export const Documents = ({ view, names }: { view: View; names: readonly string[] }) => (
  <p class="soft">
    {view.t('More about this:')}{' '}
    {names.map((name) => (
      <>
        <a href={`/web/docs/${name}.md`} hreflang="en">
          docs/{name}.md
        </a>{' '}
      </>
    ))}
  </p>
);

export type TableColumn<Row> = {
  head: string;
  /** A class of style.ts: numbers stand at the right, times do not break, wide is text that needs room. */
  class?: 'n' | 't' | 'wide' | undefined;
  /** It names its row. */
  isName?: boolean;
  cell: (row: Row) => ComponentChildren;
};

/**
 * On a phone each row becomes a block of its own, a line for each cell under its column's name, unless the columns are
 * few and narrow: then the table scrolls by itself where it is too wide.
 */
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
              {columns.map((column) =>
                column.isName === true ? (
                  <th scope="row" class={column.class} role="rowheader">
                    {column.cell(row)}
                  </th>
                ) : (
                  <td class={column.class} data-head={column.head} role="cell">
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
