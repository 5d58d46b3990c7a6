// Small pieces that pages of records have in common: times, exact numbers, text of any length, and hidden fields.
import type { DayMark } from '../../query/day-marks.ts';
import { Said } from './layout.tsx';
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

/** Decimal text with its thousands set apart, no digit lost. */
export const grouped = (decimal: string): string =>
  decimal.length > 60 ? decimal : decimal.replace(/\d(?=(\d{3})+(?!\d))(?<!\.\d*)/g, '$&,');

/** How sure a day is, in words. */
export const markText = ({ words }: View, mark: DayMark): string =>
  mark === 'unproved' || mark === 'doubtful' || mark === 'proved'
    ? words.calendar[mark]
    : words.states[mark];

/** A form keeps the project, where there are several to choose from. */
export const ProjectField = ({ view }: { view: View }) =>
  view.projects.length > 1 ? <input type="hidden" name="project" value={view.project} /> : null;

/** What was asked cannot be: the library's own sentence. */
export const Refusal = ({ view, sentence }: { view: View; sentence: string | null }) =>
  sentence === null ? null : (
    <p class="notice" role="alert">
      {view.words.records.invalid} <Said text={sentence} lang="en" />
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
      title={props.view.words.records.asOfHint}
      required={props.isRequired}
      spellcheck={false}
      autocomplete="off"
    />
  </>
);

/** A parser of HTML would take a NUL for the end of its wits. */
export const readable = (text: string): string => text.replaceAll('\0', '\ufffd');

/** Foreign text in the title of a window: its direction ends with it. */
export const isolated = (text: string): string => `\u2068${text}\u2069`;

/** Pages of the documentation as they are, which is in English. */
export const Documents = ({ view, names }: { view: View; names: readonly string[] }) => (
  <p class="soft">
    {view.words.documents}{' '}
    {names.map((name) => (
      <>
        <a href={`/web/docs/${name}.md`} hreflang="en">
          docs/{name}.md
        </a>{' '}
      </>
    ))}
  </p>
);
