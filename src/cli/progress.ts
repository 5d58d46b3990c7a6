// How far a command is: one line with a bar, redrawn on a terminal, and a plain line every five seconds elsewhere. Our
// own, for what a library of bars leaves to its user is most of this: to show nothing that is not known, to fit into
// any width, to make way for log lines, and to be plain where lines stay.
import {
  clearLine,
  fitting,
  formatCount,
  isScreen,
  shortSpan,
  widthOf,
  type Out,
} from './print.ts';

export type Sofar = {
  /** What is worked on. Another name or unit begins anew: its rate is its own. */
  name: string;
  done?: number;
  /** How many there will be; null or absent: nobody knows. */
  all?: number | null;
  /** What they are, in the plural. */
  unit?: string;
  /** What the rate is told of where that is not what is done. */
  paced?: { count: number; unit: string };
  /** What else there is to say, the least of all. */
  more?: string;
};

export type ProgressLine = {
  /** Shows how far it is unless that was shown a moment ago. */
  update(sofar: Sofar | string): void;
  /** Takes the line away, or shows the newest text where lines stay. May be called twice. */
  end(): void;
};

/** A terminal is redrawn after so many milliseconds at the earliest, and after so many more when a log line came. */
const shownEveryMs = 200;
const redrawnEveryMs = 500;
const linesEveryMs = 5_000;

/** `now` in milliseconds on a clock that never jumps. */
export function createProgress(
  out: Out,
  now: () => number = () => performance.now(),
): ProgressLine {
  const pace = createPace(now);
  return isScreen(out) ? redrawn(out, pace, now) : plain(out, pace, now);
}

function redrawn(out: Out, pace: Pace, now: () => number): ProgressLine {
  let shownAt = -Infinity;
  let latest: Paced | null = null;
  const show = (): void => {
    if (latest === null) return;
    shownAt = now();
    // The cursor waits at the beginning of the line, which a log line may then take over.
    out.write(`\r${barLine(latest, (out.columns || 80) - 1)}\u001b[K\r`);
  };
  const clear = (): void => {
    if (latest !== null) out.write(clearLine);
    latest = null;
  };
  // A second Ctrl-C ends the process on the spot.
  process.once('exit', clear);
  const timer = setInterval(() => {
    if (now() - shownAt >= redrawnEveryMs) show();
  }, redrawnEveryMs).unref();
  return {
    update(sofar) {
      latest = pace(sofar);
      if (now() - shownAt >= shownEveryMs) show();
    },
    end() {
      clearInterval(timer);
      process.off('exit', clear);
      clear();
    },
  };
}

function plain(out: Out, pace: Pace, now: () => number): ProgressLine {
  let shownAt = now();
  let latest = '';
  let shown = '';
  const show = (): void => {
    if (latest !== shown) out.write(`${latest}\n`);
    shown = latest;
  };
  return {
    update(sofar) {
      latest = sentence(pace(sofar));
      if (now() - shownAt < linesEveryMs) return;
      shownAt = now();
      show();
    },
    end() {
      // Only where there was progress to speak of: a quick command stays quiet.
      if (shown !== '') show();
    },
  };
}

type Paced = Sofar & { perSecond: number | null; leftMs: number | null };
type Pace = (sofar: Sofar | string) => Paced;

/** A rate is that of the last so many milliseconds, and is told once it was watched for a while. */
const watchedMs = 20_000;
const knownAfterMs = 2_000;

function createPace(now: () => number): Pace {
  let name: string | undefined;
  let seen: { at: number; done: number; count: number }[] = [];
  return (given) => {
    const sofar = typeof given === 'string' ? { name: given } : given;
    const { done = 0, all = null } = sofar;
    if (`${sofar.name} ${sofar.unit}` !== name) seen = [];
    name = `${sofar.name} ${sofar.unit}`;
    const at = now();
    const count = sofar.paced?.count ?? done;
    if (at - (seen.at(-1)?.at ?? -Infinity) >= shownEveryMs) seen.push({ at, done, count });
    while (seen.length > 2 && at - (seen[0]?.at ?? at) > watchedMs) seen.shift();
    const [first = { at, done, count }] = seen;
    const ms = at - first.at;
    if (ms < knownAfterMs) return { ...sofar, perSecond: null, leftMs: null };
    const perMs = (done - first.done) / ms;
    const left = all === null || perMs <= 0 || done >= all ? null : (all - done) / perMs;
    const perSecond = (1000 * (count - first.count)) / ms;
    return { ...sofar, perSecond: perSecond > 0 ? perSecond : null, leftMs: left };
  };
}

const rateText = (perSecond: number, unit: string): string =>
  `${perSecond < 10 ? perSecond.toFixed(1) : formatCount(Math.round(perSecond))}${unit}/s`;

/** What is known, each by itself. */
function words({ done, all = null, unit = '', paced, more, perSecond, leftMs }: Paced) {
  const ofAll = all === null ? '' : ` of ${formatCount(Math.max(all, done ?? 0))}`;
  return {
    share: all === null || all === 0 ? '' : `${shareOf(done ?? 0, all)} %`,
    count: done === undefined ? '' : `${formatCount(done)}${ofAll} ${unit}`.trim(),
    rate:
      perSecond === null ? '' : rateText(perSecond, paced === undefined ? '' : ` ${paced.unit}`),
    left: leftMs === null ? '' : `${shortSpan(Math.max(leftMs, 1))} left`,
    more: more ?? '',
  };
}

/** Cut off: a hundred is all of it. */
const shareOf = (done: number, all: number): number =>
  Math.min(100, Math.floor((100 * done) / all));

const isSaid = (text: string): boolean => text !== '';

/** `demo: 41 %, 6,512 of 15,773 orders, 3,120/s, 3 s left`. */
function sentence(sofar: Paced): string {
  const { share, count, rate, left, more } = words(sofar);
  const said = [share, count, more, rate, left].filter(isSaid).join(', ');
  return said === '' ? sofar.name : `${sofar.name}: ${said}`;
}

/** The same with a bar, as much of it as fits into so many columns; what is left of them first. */
function barLine(sofar: Paced, columns: number): string {
  const { share, count, rate, left, more } = words(sofar);
  const drawn = share === '' ? '' : bar(sofar.done ?? 0, sofar.all ?? 0);
  const forms = [
    [drawn, share, count, rate, left, more],
    [drawn, share, count, rate, left],
    [drawn, share, count, left],
    [drawn, share, left],
    [share, left],
  ].map((parts) => [sofar.name, ...parts].filter(isSaid).join('  '));
  return forms.find((form) => widthOf(form) <= columns) ?? fitting(forms.at(-1) ?? '', columns);
}

/** Twenty characters, filled as far as it has come. */
function bar(done: number, all: number): string {
  const filled = Math.min(20, Math.floor((20 * done) / all));
  return '█'.repeat(filled) + '░'.repeat(20 - filled);
}
