// The scheduler: a tick runs every project once; one that comes while the project is being worked on is left out for
// it. node-cron names the minutes and a steady timer looks for them: node-cron's own timer sleeps until a time of the
// wall clock, and where that is set back by hours it sleeps for hours. When a day is due: due-times.ts.
import { createTask, parse } from 'node-cron';
import { dayMs, minuteMs } from '../day.ts';
import { causeChain } from '../errors.ts';
import { createLogThrottle, type Log } from '../log.ts';
import type { Instant, ProjectId } from '../model.ts';
import { databaseError } from '../store/db-errors.ts';
import { openAsks } from '../store/holders.ts';
import { answerAsk } from './ask-holder.ts';
import { isResting } from './contact/resource-health.ts';
import type { Hold } from './holder.ts';
import { runHeld } from './run.ts';
import type { RunReport, TickResult, Worker } from './worker.ts';

/** How often it is looked whether the ticks still come, what others ask for, and what they hold no more. */
const watchedEveryMs = 5000;

export type Schedule = Pick<Ticks, 'isOverdue'> & {
  /** Ends the ticks, waits for the runs in progress, which the signal has told to stop, and gives the projects back. */
  close(): Promise<void>;
};

/**
 * Takes every project that nobody holds, and keeps it; runs at once and then at every tick of `expression`. What another
 * process holds is taken within seconds once that has ended. A failure of one project is logged and leaves the others and the
 * next tick alone: the next tick is the retry. `onTurn` hears how each run ended, at each tick of those that go on
 * (`running`), whose project rests (`parked`) or is another process's (`elsewhere`), and of each project where the ticks do
 * not come (`overdue`); it must not throw.
 */
export function startSchedule(
  workers: Worker[],
  expression: string,
  signal: AbortSignal,
  log: Log,
  onRun: (report: RunReport) => void = () => undefined,
  onTurn: (turn: TickResult) => void = () => undefined,
): Schedule {
  type Turn = { done: Promise<void>; isForAnother: boolean; cut: AbortController };
  const running = new Map<Worker, Turn>();

  const told = createRunLog(log);

  const holds = new Map<Worker, Hold<Worker>>();
  const elsewhere = new Set<Worker>();

  const take = async (worker: Worker): Promise<Hold<Worker> | null> => {
    const known = holds.get(worker);
    if (known !== undefined && !known.signal.aborted) return known;
    holds.delete(worker);
    const taken = await worker.holder.take(worker);
    if ('worker' in taken) {
      if (elsewhere.delete(worker))
        log.info({ projectId: worker.projectId }, 'The project is taken');
      holds.set(worker, taken);
      return taken;
    }
    const { holder, heldSince: since } = taken;
    const fields = { projectId: worker.projectId, holder, since };
    if (!elsewhere.has(worker)) log.info(fields, 'Another process holds the project');
    elsewhere.add(worker);
    return null;
  };

  const runOne = async (worker: Worker, turn: Turn): Promise<void> => {
    const begunAt = performance.now();
    try {
      const hold = await take(worker);
      if (hold === null) return;
      turn.isForAnother = true;
      // Ends: each is answered once (P9).
      for (const ask of await openAsks(worker.db, [worker.projectId])) {
        if (signal.aborted) return;
        await answerAsk(hold, ask, (options) => runHeld(hold, { ...options, signal }));
      }
      turn.isForAnother = false;
      const report = await runHeld(hold, { signal: AbortSignal.any([signal, turn.cut.signal]) });
      if (turn.cut.signal.aborted) return;
      onRun(report);
      told.ended(report, begunAt);
      onTurn(report);
    } catch (error) {
      told.failed(worker.projectId, error);
      onTurn(without(worker, 'failed'));
    }
  };

  const begin = (worker: Worker): void => {
    if (signal.aborted || running.has(worker)) return;
    const turn: Turn = {
      done: Promise.resolve(),
      isForAnother: false,
      cut: new AbortController(),
    };
    running.set(worker, turn);
    turn.done = runOne(worker, turn).finally(() => {
      running.delete(worker);
      if (turn.cut.signal.aborted) begin(worker);
    });
  };

  /** What a person asks for goes before: the run in progress makes room, and goes on afterwards. */
  const attend = async (): Promise<void> => {
    const [first] = holds.keys();
    if (first === undefined) return;
    const asks = await openAsks(
      first.db,
      [...holds.keys()].map(({ projectId }) => projectId),
    );
    for (const worker of holds.keys()) {
      if (!asks.some(({ projectId }) => projectId === worker.projectId)) continue;
      const turn = running.get(worker);
      if (turn === undefined) begin(worker);
      else if (!turn.isForAnother) turn.cut.abort();
    }
  };

  // Each project for itself: one that has much to do, or a slow platform, keeps no other waiting.
  const tick = (): void => {
    if (signal.aborted) return;
    for (const worker of workers) {
      if (elsewhere.has(worker)) onTurn(without(worker, 'elsewhere'));
      else if (running.has(worker)) onTurn(without(worker, 'running'));
      else if (isResting(worker.platform, 'all')) onTurn(without(worker, 'parked'));
      else begin(worker);
    }
  };

  /** Of all projects that others hold at once: there may be hundreds. */
  const takeOver = async (): Promise<void> => {
    const [first] = elsewhere;
    if (first === undefined) return;
    const free = await first.holder.free([...elsewhere].map(({ projectId }) => projectId));
    for (const worker of elsewhere) if (free.includes(worker.projectId)) begin(worker);
  };

  const ticks = startTicks(expression, tick, log);
  const watch = setInterval(() => {
    if (ticks.isOverdue()) for (const worker of workers) onTurn(without(worker, 'overdue'));
    // A database that does not answer is told of by the runs.
    takeOver().catch(() => undefined);
    attend().catch(() => undefined);
  }, watchedEveryMs);
  tick();
  return {
    isOverdue: () => ticks.isOverdue(),
    async close() {
      clearInterval(watch);
      ticks.close();
      await Promise.all([...running.values()].map(({ done }) => done));
      await Promise.all([...holds.values()].map((hold) => hold.release()));
    },
  };
}

export type Ticks = {
  /** Three times for which the expression has a tick have passed on the steady clock, and none has come. */
  isOverdue(): boolean;
  close(): void;
};

const lookMs = 1000;

/**
 * Calls `tick` within a second of each moment that the expression names in local time, once for those that passed while
 * the machine slept or its clock leapt, and for one that a spring day does not have. Of an hour that an autumn day has
 * twice, each is a tick of its own. One that comes while the one before is under way is left out.
 */
export function startTicks(expression: string, tick: () => void | Promise<void>, log: Log): Ticks {
  // Never started.
  const local = createTask(expression, () => undefined);
  const newest = newestOf(expression);
  /** Whether it names a moment in `(from, to]`. A machine that slept for days: nobody counts the minutes. */
  const names = (from: number, to: number): boolean =>
    to - from > dayMs || newest(from, to) !== null;
  const overdueFrom = (): number => {
    const [, , third] = local.getNextRuns(3);
    return performance.now() + (third?.getTime() ?? Infinity) - new Date().getTime();
  };

  let last = localNow();
  let overdueAt = overdueFrom();
  let isOverdue = false;
  let isUnderWay = false;
  const run = async (): Promise<void> => {
    isUnderWay = true;
    try {
      await tick();
    } catch (error) {
      log.error({ error: causeChain(error) }, 'A tick of the schedule failed');
    }
    isUnderWay = false;
  };
  // Where a second begins, so that replicas tick together and not up to a second apart.
  const toNextLook = (): number => lookMs - (Date.now() % lookMs);
  const look = (): void => {
    timer = setTimeout(look, toNextLook());
    const now = localNow();
    // Set back, it goes on from there.
    const isDue = names(last <= now ? last : now - lookMs, now);
    last = now;
    // Said here alone: a process that itself stood still must look before it may say so.
    isOverdue = !isDue && performance.now() >= overdueAt;
    if (!isDue) return;
    overdueAt = overdueFrom();
    if (!isUnderWay) void run();
  };
  let timer = setTimeout(look, toNextLook());
  return {
    isOverdue: () => isOverdue,
    close() {
      clearTimeout(timer);
      void local.destroy();
    },
  };
}

/** What a clock on the wall shows here at a moment, as milliseconds since its 1970. */
const asShown = (at: Date): number => at.getTime() - at.getTimezoneOffset() * minuteMs;

/** By the machine's own clock, as node-cron: no other is passed in here. */
const localNow = (): number => asShown(new Date());

/** Says which is the newest moment in `(from, to]` that a schedule names, as the local clock shows them; null: none. */
function newestOf(schedule: string): (from: number, to: number) => number | null {
  // They are looked for as if they were UTC: that has no gap in spring, and node-cron keeps the zone that it first saw.
  const task = createTask(schedule, () => undefined, { timezone: 'UTC' });
  const { minute: minutes, second } = parse(schedule);
  const seconds = second.toReversed();
  return (from, to) => {
    for (let minute = to - (to % minuteMs); minute > from - minuteMs; minute -= minuteMs) {
      // To match takes long.
      if (!minutes.includes(new Date(minute).getUTCMinutes())) continue;
      const at = seconds
        .map((one) => minute + one * 1000)
        .find((one) => one > from && one <= to && task.match(new Date(one)));
      if (at !== undefined) return at;
    }
    return null;
  };
}

/** A turn in which nothing was done. */
const without = ({ projectId }: Worker, outcome: TickResult['outcome']): TickResult => ({
  projectId,
  outcome,
});

type RunLog = {
  ended(report: RunReport, begunAt: number): void;
  failed(projectId: ProjectId, error: unknown): void;
};

/** No project is called so. */
const theDatabase = '';

const parkedText =
  'The project is parked: the platform refused its key. It is asked again hourly, at once under another key or address, or by `outlast sync`';

/**
 * Tells how runs end: what goes wrong when it begins, every five minutes and when it is over. The database is told of
 * once for all projects; its trouble is over with the first run that began after the last one that it failed.
 */
export function createRunLog(log: Log, now: () => number = () => performance.now()): RunLog {
  type Trouble = { since: number; warn: () => boolean; error: () => boolean };
  const troubles = new Map<ProjectId, Trouble>();
  let databaseFailedAt = -Infinity;
  const level = (projectId: ProjectId, loud: 'warn' | 'error'): 'warn' | 'error' | 'debug' => {
    const trouble = troubles.get(projectId) ?? {
      since: now(),
      warn: createLogThrottle(now),
      error: createLogThrottle(now),
    };
    troubles.set(projectId, trouble);
    return trouble[loud]() ? loud : 'debug';
  };
  /** Tells that the trouble is over; false: there was none. */
  const over = (projectId: ProjectId, fields: object, sentence: string): boolean => {
    const trouble = troubles.get(projectId);
    if (trouble === undefined) return false;
    troubles.delete(projectId);
    const minutes = Math.round((now() - trouble.since) / minuteMs);
    log.info({ ...fields, minutes }, sentence);
    return true;
  };
  return {
    failed: (projectId, cause) => {
      const known = databaseError(cause);
      const error = causeChain(known ?? cause);
      if (known?.code.startsWith('database_') === true) {
        databaseFailedAt = now();
        log[level(theDatabase, 'error')]({ error }, 'The database fails the runs');
      } else log[level(projectId, 'error')]({ projectId, error }, 'A run failed');
    },
    ended: (report, begunAt) => {
      if (begunAt > databaseFailedAt) over(theDatabase, {}, 'The database answers again');
      const { projectId, outcome, requests, slicesDone, recordsNew, recordsChanged } = report;
      const fields = { projectId, outcome, requests, slicesDone, recordsNew, recordsChanged };
      if (outcome === 'left' || outcome === 'parked') {
        const trouble = outcome === 'left' ? 'A run left something due' : parkedText;
        log[level(projectId, 'warn')]({ ...fields, problem: report.problem }, trouble);
        return;
      }
      if (outcome === 'done' && over(projectId, fields, 'What was due is done again')) return;
      if (recordsNew + recordsChanged > 0) log.info(fields, 'A run brought records');
      else log.debug(fields, 'A run found nothing new');
    },
  };
}

/** The next moment of a schedule, in local time. */
export function nextDue(schedule: string): Instant {
  const task = createTask(schedule, () => undefined);
  const [next] = task.getNextRuns(1);
  void task.destroy();
  return next?.getTime() ?? Infinity;
}

/** The newest moment of a schedule, in local time, up to this one; null: none in forty days. */
export function lastDue(schedule: string, now: Instant): Instant | null {
  const until = asShown(new Date(now));
  const shown = newestOf(schedule)(until - 40 * dayMs, until);
  if (shown === null) return null;
  // Without its zone the text is read as local time; one that a spring night leaves out, as a time after that night's gap.
  const at = new Date(new Date(shown).toISOString().slice(0, -1));
  return at.getTime() + shown - asShown(at);
}
