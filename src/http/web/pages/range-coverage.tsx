// Whether the days that a list was narrowed to are wholly covered, in a line.
import { addDays, dayOf, startOf } from '../../../day.ts';
import type { Day, ListedResource, ProjectId } from '../../../model.ts';
import { markOf, weaker, type DayMark } from '../../../query/day-marks.ts';
import { markText } from '../parts.tsx';
import { linkTo, type View } from '../view.ts';

export type RangeCoverage = {
  /** Days of the range that the ledger knows. */
  days: number;
  /** Of them, those of which not all is held, each with the mark of its weakest list. */
  holes: { day: Day; mark: DayMark }[];
  /** Days of the range, up to today, that the ledger does not know. */
  unknown: number;
  /** Records that the last readings were shown. */
  shown: number;
};

export async function readRange(
  { archive, now }: View,
  project: ProjectId,
  resource: ListedResource,
  range: { from?: Day; to?: Day },
): Promise<RangeCoverage> {
  const slices = await archive.coverage({ project, resource, ...range });
  const holes = new Map<Day, DayMark>();
  for (const slice of slices.filter(({ isHeld }) => !isHeld)) {
    const mark = markOf(slice);
    holes.set(slice.day, weaker(mark, holes.get(slice.day) ?? mark));
  }
  const held = new Set(slices.map(({ day }) => day));
  const tomorrow = addDays(dayOf(now), 1);
  const end = range.to === undefined || range.to > tomorrow ? tomorrow : range.to;
  const begin = range.from ?? slices[0]?.day ?? end;
  const inRange = Math.max(0, (startOf(end) - startOf(begin)) / 86_400_000);
  return {
    days: held.size,
    holes: [...holes].map(([day, mark]) => ({ day, mark })),
    unknown: Math.max(0, inRange - held.size),
    shown: slices.reduce((sum, { shownTotal }) => sum + (shownTotal ?? 0), 0),
  };
}

/** Links at most; the calendar has them all. */
const mostLinks = 12;

export function RangeLine(props: { view: View; resource: ListedResource; of: RangeCoverage }) {
  const { view, resource } = props;
  const { days, holes, unknown } = props.of;
  const { words, format } = view;
  if (days === 0) return <p class="notice mild">{words.records.noDays}</p>;
  const isAll = holes.length === 0 && unknown === 0;
  return (
    <p class={isAll ? 'good' : 'notice mild'}>
      {holes.length === 0
        ? words.records.whole(format.number(days))
        : words.records.notWhole(format.number(holes.length), format.number(days))}
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
