// Whether the days that a list was narrowed to are wholly covered, in a line.
import type { ListedResource } from '../../../model.ts';
import { isForGood, type RangeCoverage } from '../../../query/day-marks.ts';
import { markText } from '../parts.tsx';
import { linkTo, type View } from '../view.ts';

/** Links at most; the calendar has them all. */
const mostLinks = 12;

export function RangeLine(props: {
  view: View;
  resource: ListedResource;
  of: RangeCoverage;
  isThen: boolean;
}) {
  const { view, resource, isThen } = props;
  const { days, holes, unknown } = props.of;
  const { words, format } = view;
  if (days === 0) return <p class="notice mild">{words.records.noDays}</p>;
  const isAll = holes.length === 0 && unknown === 0;
  const forGood = holes.filter(({ mark }) => isForGood(mark)).length;
  const [count, of] = [format.number(holes.length), format.number(days)];
  const text = isThen
    ? words.records.notWholeThen(count, of)
    : words.records.notWhole(count, of, format.number(forGood));
  return (
    <p class={isAll ? 'good' : 'notice mild'}>
      {holes.length === 0 ? words.records[isThen ? 'wholeThen' : 'whole'](of) : text}
      {holes.slice(0, mostLinks).map(({ day, mark }) => (
        <>
          {' '}
          <a href={linkTo(view, `/days/${resource}/${day}`)} title={markText(view, mark)}>
            {format.day(day)}
          </a>
        </>
      ))}
      {holes.length > mostLinks && (
        <>
          {' '}
          <a href={linkTo(view, '/')}>
            {words.records.more(format.number(holes.length - mostLinks))}
          </a>
        </>
      )}
      {unknown > 0 && ` ${words.records.notHeld(format.number(unknown))}`}
    </p>
  );
}
