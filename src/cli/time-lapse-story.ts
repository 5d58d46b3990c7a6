// The story of `outlast demo --time-lapse`: three months lived through by the archive's own parts, on a clock that
// leaps. It decides when the service runs and when it is off, and nothing of what a run does.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Instant } from '../model.ts';
import { run } from '../sync/run.ts';
import type { RunReport, Worker } from '../sync/worker.ts';
import { createTeller, type Lived, type Telling } from './time-lapse-teller.ts';

const dayMs = 86_400_000;
/** Twice a day it is looked at what is due. */
const leapMs = dayMs / 2;

/**
 * A clock for the platform and this machine alike: it goes as real time does, and leaps when told. One that ran
 * thousands of times faster would be hours on before an answer came, and no two clocks would agree.
 */
export type LeapingTime = { now: () => Instant; leap(byMs: number): void };

export function createLeapingTime(startAt: Instant): LeapingTime {
  let ahead = startAt - performance.now();
  return { now: () => performance.now() + ahead, leap: (byMs) => void (ahead += byMs) };
}

/** The service is off in `[from, to)`. */
type Outage = { from: Instant; to: Instant };
export type Story = {
  startsAt: Instant;
  /** The first run is cut short when it has read so many days. */
  cutAfterDays: number;
  outages: Outage[];
  endsAt: Instant;
};

/**
 * It begins three days before a month leaves the window, and the service is off for a week before it has read all of
 * that month; the second outage leaves a month's end behind as well, but finds nothing unread.
 */
export const threeMonths: Story = {
  startsAt: Date.parse('2026-01-29T06:30:00Z'),
  cutAfterDays: 25,
  outages: [
    { from: Date.parse('2026-01-29T06:30:00Z'), to: Date.parse('2026-02-05T06:30:00Z') },
    { from: Date.parse('2026-03-29T06:30:00Z'), to: Date.parse('2026-04-05T06:30:00Z') },
  ],
  endsAt: Date.parse('2026-05-02T00:00:00Z'),
};

type Lapse = Omit<Telling, 'now'> & {
  story: Story;
  time: LeapingTime;
  /** Looks after the alerts when a run has ended. */
  lookAfter: (report: RunReport) => Promise<void>;
  signal: AbortSignal;
};

/**
 * Lives through the story and returns what has become of the days. Ends: each turn leaps on towards the story's end, or
 * the signal is aborted. Throws what a run throws.
 */
export async function liveThrough(lapse: Lapse): Promise<Lived> {
  const { story, time, worker, msADay, lookAfter, signal } = lapse;
  const teller = createTeller({ ...lapse, now: time.now });
  teller.begin();
  await runUntil(worker, story.cutAfterDays, signal);
  await teller.notice(0);
  let wasOff = false;
  for (;;) {
    const begun = performance.now();
    const outage = story.outages.find(({ from, to }) => time.now() >= from && time.now() < to);
    if (outage !== undefined && !wasOff) teller.goesOff(outage.to);
    if (outage === undefined) {
      if (wasOff) teller.comesBack();
      const report = await run(worker, { signal });
      if (signal.aborted) break;
      await lookAfter(report);
      await teller.notice(report.recordsNew);
    }
    wasOff = outage !== undefined;
    const leftMs = msADay * (leapMs / dayMs) - (performance.now() - begun);
    if (leftMs > 0) await sleep(leftMs, undefined, { signal }).catch(() => undefined);
    // It stands after a run, with all done that was due.
    if (time.now() + leapMs >= story.endsAt || signal.aborted) break;
    time.leap(leapMs);
  }
  return teller.lived();
}

/** A first run that is cut short when so many days are read, as by somebody who turns the machine off. */
async function runUntil(worker: Worker, days: number, outside: AbortSignal): Promise<void> {
  const off = new AbortController();
  await run(
    // One day at a time, so that it is the same days each time.
    { ...worker, lanes: 1 },
    {
      signal: AbortSignal.any([outside, off.signal]),
      onProgress: ({ slicesDone }) => {
        if (slicesDone >= days) off.abort();
      },
    },
  );
}
