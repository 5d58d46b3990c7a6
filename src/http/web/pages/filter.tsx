// What stands over a list: the form, a field for everything it can be narrowed by, each under its name in
// `/archive/v1`; and whether all is held of the days that it was narrowed to, in a line.
import type { Shape } from '../../../query/check-arguments.ts';
import type { List } from '../../../query/lists.ts';
import { columnOf } from '../../../query/selected-columns.ts';
import { snake } from '../../../resources.ts';
import type { ListedResource } from '../../../model.ts';
import { isForGood, type RangeCoverage } from '../../../query/day-marks.ts';
import { InstantField, ProjectField, readable } from '../parts.tsx';
import { wordsOf } from '../value.tsx';
import { linkTo, type View } from '../view.ts';

type Filtered = { view: View; list: List; given: Record<string, string> };

/** `shape`: what the page takes; `isAsked`: somebody narrowed it. */
export function Filter(props: Filtered & { shape: Shape; isAsked: boolean }) {
  const { view, list, shape, given, isAsked } = props;
  const { t } = view;
  // By its name a row is found in its list: only what sorts rows is worth a field.
  const isNoName = (name: string): boolean => {
    const { values, type } = columnOf(list.fields, name) ?? {};
    return !list.key.includes(name) || values !== undefined || type === 'date';
  };
  const names = Object.keys(shape).filter((name) => name !== 'cursor' && isNoName(name));
  if (names.every((name) => name === 'limit')) return null;
  return (
    <form class="filter folds" method="get" action={`/${list.name}`} aria-label={t('Filter')}>
      {/* On a phone it is opened by this; without a name it is no part of what is asked. */}
      <input id="fold" type="checkbox" checked={isAsked} />
      <label for="fold">{t('Filter')}</label>
      {names.map((name) => (
        <Field view={view} list={list} given={given} name={name} />
      ))}
      <ProjectField view={view} />
      <button>{t('Filter')}</button>
      {isAsked && <a href={linkTo(view, `/${list.name}`)}>{t('Clear the filter')}</a>}
    </form>
  );
}

function Field({ view, list, given, name }: Filtered & { name: string }) {
  const { t, words } = view;
  const asked = snake(name);
  const value = given[asked] ?? '';
  const id = `by-${asked}`;
  const label = labelOf(view, name);
  const column = columnOf(list.fields, name);
  if (column?.words !== undefined) {
    const said = Object.entries(column.words);
    const options = said.map(([one, word]) => [one, words.terms[word] ?? word] as const);
    return <Several label={label} name={asked} options={options} value={value} />;
  }
  const choices: Record<string, readonly string[]> = {
    order: ['desc', 'asc'],
    limit: ['25', '50', '100', '200', '500'],
  };
  const choice = choices[name] ?? (column?.values && ['', ...column.values]);
  const said: Record<string, string> =
    name === 'order'
      ? { desc: t('newest first'), asc: t('oldest first') }
      : { '': t('any'), ...wordsOf(words, list, name) };
  return (
    <div>
      {name === 'asOf' ? (
        <InstantField view={view} id={id} value={value} label={label} />
      ) : (
        <>
          <label for={id}>{label}</label>
          {choice === undefined ? (
            <input
              id={id}
              name={asked}
              type={name === 'from' || name === 'to' ? 'date' : name === 'month' ? 'month' : 'text'}
              value={readable(value)}
              spellcheck={false}
              autocomplete="off"
            />
          ) : (
            <select id={id} name={asked}>
              {[...new Set([...choice, value])].map((one) => (
                <option value={one} selected={one === value}>
                  {said[one] ?? one}
                </option>
              ))}
            </select>
          )}
        </>
      )}
    </div>
  );
}

function labelOf({ t, words }: View, name: string): string {
  const own: Record<string, string> = {
    asOf: t('As known at'),
    order: t('Order'),
    limit: t('Records a page'),
    name: t('Name contains'),
  };
  return own[name] ?? words.fields[name] ?? name;
}

/** Several mean any of them. What else was given in the address stands beside them, to be taken away. */
function Several(props: {
  label: string;
  name: string;
  options: readonly (readonly [value: string, word: string])[];
  value: string;
}) {
  const { label, name, options, value } = props;
  const given = value === '' ? [] : value.split(',').slice(0, 20);
  const known = options.map(([one]) => one);
  const others = [...new Set(given.filter((one) => !known.includes(one)))];
  return (
    <fieldset>
      <legend>{label}</legend>
      {[...options, ...others.map((one) => [one, one] as const)].map(([one, word]) => (
        <label>
          <input type="checkbox" name={name} value={one} checked={given.includes(one)} />
          <bdi>{word}</bdi>
        </label>
      ))}
    </fieldset>
  );
}

/** Links at most; the calendar has them all. */
const mostLinks = 12;

/** Whether all is held of the days asked for. */
export function RangeLine(props: {
  view: View;
  resource: ListedResource;
  of: RangeCoverage;
  isThen: boolean;
}) {
  const { view, resource, isThen } = props;
  const { days, holes, unknown } = props.of;
  const { t, words, format } = view;
  if (days === 0) return <p class="notice mild">{t('None of these days is in the archive.')}</p>;
  const isAll = holes.length === 0 && unknown === 0;
  const forGood = holes.filter(({ mark }) => isForGood(mark)).length;
  const counts = { days: holes.length, of: days, forGood };
  const whole = (): string =>
    isThen
      ? t('All was held then of {days:this day|all # days}.', { days })
      : t('All is held of {days:this day|all # days}.', { days });
  const notWhole = (): string => {
    if (isThen)
      return t('Of {days} of {of} days the proof is younger than that, or missing:', counts);
    if (days > 1 && forGood === 0)
      return t('{days} of {of} days {days:is|are} not all held yet:', counts);
    if (days > 1) {
      return t(
        '{days} of {of} days {days:is|are} not all held, {forGood} of them for good:',
        counts,
      );
    }
    return forGood === 0
      ? t('This day is not all held yet:')
      : t('This day was never proved whole, and will not be:');
  };
  return (
    <p class={isAll ? 'good' : 'notice mild'}>
      {holes.length === 0 ? whole() : notWhole()}
      {holes.slice(0, mostLinks).map(({ day, mark }) => (
        <>
          {' '}
          <a href={linkTo(view, `/days/${resource}/${day}`)} title={words.states[mark]}>
            {format.day(day)}
          </a>
        </>
      ))}
      {holes.length > mostLinks && (
        <>
          {' '}
          <a href={linkTo(view, '/')}>
            {t('and {count} more', { count: holes.length - mostLinks })}
          </a>
        </>
      )}
      {unknown > 0 &&
        ` ${t('{days:One day is|# days are} none of the archive’s.', { days: unknown })}`}
    </p>
  );
}
