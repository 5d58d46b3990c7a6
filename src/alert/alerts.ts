// After each run the project is looked at, what is new or over is told once over all replicas (what there is to tell:
// problems.ts), and the heartbeat is called where all is well. It works in the background and fails with a line in the
// log: no sync waits for it, and no error of it reaches one.
import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { causeChain } from '../errors.ts';
import { createLogThrottle, type Log } from '../log.ts';
import type { Instant, ProjectId } from '../model.ts';
import type { AlertSettings } from '../settings/settings.ts';
import { claimAlerts, noteTold, noteUntold, type Claimed } from '../store/alerts/alert-rows.ts';
import type { ProblemReport } from '../store/alerts/problem-rows.ts';
import { databaseError } from '../store/db-errors.ts';
import type { Db } from '../store/db.ts';
import { hasLapsed } from '../store/holders.ts';
import { newestHeads } from '../store/journal/heads.ts';
import type { PolicySettings } from '../sync/enter-days.ts';
import { readForecast, risksOf } from '../sync/read-forecast.ts';
import { concernsAll } from '../sync/unforeseen-errors.ts';
import type { FileTrouble, TickResult } from '../sync/worker.ts';
import { deliver } from './deliver.ts';
import { bodyOf } from './message.ts';
import { updateAlerts, type ExportEnd, type ProcessState } from './update-alerts.ts';

type WatchedProject = {
  projectId: ProjectId;
  settings: PolicySettings;
  /** The platform's clock. */
  now: () => Instant;
  /** Clocks that contradict each other as this process hears them. */
  disagreement: () => ProcessState['clocks'];
  /** Whether it is the platform's by now, and not this machine's. */
  knowsTime: () => boolean;
};

/** What is kept of one between two looks. */
type AlertedProject = WatchedProject & {
  /** Not looked at yet is not well. */
  isUnwell: boolean;
  failedInARow: number;
  /** Null: no run has come to them yet. */
  files: FileTrouble[] | null;
  /** The export that the alerts know of. */
  enteredExport: ExportEnd | null;
  /** All that was due, since the last beat. */
  hasDoneAll: boolean;
  isElsewhere: boolean;
  /** By a forecast of the last minutes. */
  forecast: { atMs: number; risks: ProblemReport[] } | null;
};

export type AlertsOptions = {
  db: Db;
  settings: AlertSettings;
  projects: WatchedProject[];
  /** False where only a part of the work was asked for: that says nothing of the rest. */
  mayBeat: boolean;
  /** How the last export on schedule ended, a new object for each; null: not known here. */
  lastExport?: () => ExportEnd | null;
  log: Log;
  monotonicNow?: () => number;
};

export type Alerts = ReturnType<typeof createAlerts>;

export function createAlerts(options: AlertsOptions) {
  const { db, settings, log, monotonicNow = () => performance.now() } = options;
  const { webhookUrl, format, secret, heartbeatUrl, reminderMs } = settings;
  const projects = new Map<ProjectId, AlertedProject>(
    options.projects.map((one) => [
      one.projectId,
      {
        ...one,
        isUnwell: true,
        failedInARow: 0,
        files: null,
        enteredExport: null,
        hasDoneAll: false,
        isElsewhere: false,
        forecast: null,
      },
    ]),
  );
  let lastBeatMs = -Infinity;
  const waiting = new Map<ProjectId, TickResult>();
  const stop = new AbortController();
  let isWorking = false;
  let flight: Promise<void> | null = null;

  const isToTell = createLogThrottle(monotonicNow);
  const tellTrouble = (fields: object): void =>
    log[isToTell() ? 'warn' : 'debug'](fields, 'The alerts could not be looked after');

  async function lookAt(project: AlertedProject, outcome: TickResult['outcome']): Promise<void> {
    const { projectId } = project;
    // The machine slept: that nothing was read meanwhile is no news, and the lease is renewed within seconds.
    if (outcome === 'running' && (await hasLapsed(db, projectId))) return;
    const now = project.now();
    const lastExport = options.lastExport?.() ?? null;
    // Trouble is entered once: a replica whose export was made later ends it. What was made up ends at the next look.
    const isEntered = lastExport !== null && project.enteredExport === lastExport;
    const isMade = lastExport?.trouble === null || lastExport?.trouble === 'missed';
    const afterwards = isMade ? { trouble: null } : null;
    const watch = {
      now,
      isOverdue: outcome === 'overdue',
      failedInARow: project.failedInARow,
      machine: hostname(),
      clocks: project.disagreement(),
      files: project.files,
      exportEnd: isEntered ? afterwards : lastExport,
    };
    const { problems, isUntold } = await updateAlerts(
      db,
      projectId,
      watch,
      await risksFor(project, now),
      reminderMs,
      log,
    );
    if (lastExport !== null) project.enteredExport = lastExport;
    // Where nobody can be told, not all is well.
    project.isUnwell =
      problems.some(({ level, isNews }) => level === 'critical' && !isNews) ||
      (isUntold && webhookUrl !== null);
  }

  async function risksFor(project: AlertedProject, now: Instant): Promise<ProblemReport[]> {
    const atMs = monotonicNow();
    if (project.forecast === null || atMs - project.forecast.atMs >= freshMs) {
      const forecast = await readForecast(db, project.projectId, project.settings, now);
      project.forecast = { atMs, risks: risksOf(forecast, now) };
    }
    return project.forecast.risks;
  }

  /**
   * Calls an address only where all is well: every project that this process holds, one at least, has done all that was
   * due since the last beat, and that was about a minute ago. So whoever waits for it notices a service that is dead,
   * cut off or stuck, and can no longer say so itself.
   */
  async function beat(): Promise<void> {
    const all = [...projects.values()];
    const isWell = all.every(({ isUnwell }) => !isUnwell);
    const isDue =
      all.some(({ hasDoneAll }) => hasDoneAll) &&
      all.every(({ hasDoneAll, isElsewhere }) => hasDoneAll || isElsewhere) &&
      monotonicNow() - lastBeatMs >= apartMs;
    if (heartbeatUrl === null || !options.mayBeat || !isWell || !isDue) return;
    const heads = await newestHeads(db, [...projects.keys()]);
    const problem = await deliver({ url: heartbeatUrl, body: null, heads, signal: stop.signal });
    if (problem !== null) {
      log.warn({ problem }, 'The heartbeat was not taken');
      return;
    }
    lastBeatMs = monotonicNow();
    // Each has to do it again: one that hangs in a run is not well.
    for (const one of all) one.hasDoneAll = false;
  }

  async function take(taken: TickResult[]): Promise<void> {
    const looked: AlertedProject[] = [];
    for (const { projectId, outcome } of taken) {
      const project = projects.get(projectId);
      // A run that has not heard from the platform yet soon will: no deadline is judged by another clock meanwhile.
      if (project === undefined || (outcome === 'running' && !project.knowsTime())) continue;
      try {
        await lookAt(project, outcome);
      } catch (error) {
        // What nobody foresaw keeps no other project from being looked at; and nobody says that all is well.
        if (concernsAll(error)) throw error;
        project.isUnwell = true;
        tellTrouble({ projectId, error: causeChain(error) });
        continue;
      }
      looked.push(project);
    }
    if (await tell(looked)) await beat();
  }

  /**
   * Claims what is to be told, sends one message however many projects it is of, and notes what became of it. The
   * network lies between two statements and in no transaction. A process that dies in between leaves the alerts to be
   * told again: at least once. Returns whether nothing is left untold.
   */
  async function tell(looked: AlertedProject[]): Promise<boolean> {
    if (webhookUrl === null) return true;
    let claimedAt = Infinity;
    const claimed: { project: AlertedProject; alerts: Claimed[] }[] = [];
    for (const project of looked) {
      const options = { projectId: project.projectId, now: project.now(), reminderMs, calmMs };
      const at = Date.now();
      const alerts = await claimAlerts(db, { ...options, claimMs });
      if (alerts.length === 0) continue;
      claimedAt = Math.min(claimedAt, at);
      claimed.push({ project, alerts });
    }
    const all = claimed.flatMap(({ alerts }) => alerts);
    if (all.length === 0) return true;
    const told = claimed.map(({ project }) => project.projectId);
    const body = bodyOf(all, format, await newestHeads(db, told));
    const { signal } = stop;
    // A process that stood still: its claims have run out, and another may have told them.
    if (Date.now() - claimedAt >= claimMs) {
      log.warn({ alerts: all.length }, 'The alerts were held up here; they wait for another try');
      return false;
    }
    const problem = await deliver({ url: webhookUrl, format, secret, body, signal });
    for (const { project, alerts } of claimed) {
      if (problem === null) await noteTold(db, project.projectId, alerts, project.now());
      else await noteUntold(db, project.projectId, alerts, restMs);
    }
    const fields = { alerts: all.length };
    if (problem === null) log.info(fields, 'The webhook took the alerts');
    else {
      const sentence = 'The webhook did not take the alerts; they wait for another try';
      log.warn({ ...fields, problem }, sentence);
    }
    return problem === null;
  }

  /** One at a time. P9: it ends, for a turn takes all that waits, and each run or tick adds its project once. */
  async function work(): Promise<void> {
    isWorking = true;
    // Whoever reports several projects at once gets one message for them.
    await Promise.resolve();
    while (waiting.size > 0 && !stop.signal.aborted) {
      const taken = [...waiting.values()];
      waiting.clear();
      try {
        await take(taken);
      } catch (error) {
        const problem = causeChain(databaseError(error) ?? error);
        if (!stop.signal.aborted) tellTrouble({ error: problem });
      }
    }
    isWorking = false;
  }

  return {
    /** A run has ended, a tick found the project still in one, or none comes. Returns at once. */
    after(turn: TickResult): void {
      const { projectId, outcome } = turn;
      const project = projects.get(projectId);
      if (stop.signal.aborted || outcome === 'stopped' || project === undefined) return;
      project.isElsewhere = outcome === 'elsewhere';
      // A run that goes on, or found nothing to do, shows neither that all is well nor that it is not.
      if (outcome !== 'running' && outcome !== 'idle') project.hasDoneAll = outcome === 'done';
      if (outcome === 'elsewhere') {
        // Whoever holds it looks after it.
        Object.assign(project, { isUnwell: false, failedInARow: 0 });
        return;
      }
      if (turn.files !== undefined) project.files = turn.files;
      if (outcome === 'done') project.failedInARow = 0;
      else if (!['running', 'idle', 'overdue'].includes(outcome)) project.failedInARow += 1;
      waiting.set(projectId, turn);
      if (!isWorking) flight = work();
    },
    /** Waits for what is under way, at most so long, and cuts it off then. */
    async close(patienceMs: number): Promise<void> {
      await within(flight, patienceMs);
      stop.abort();
      // What was cut off gives back its claim and its connection.
      await within(flight, Math.min(patienceMs, 500));
    },
  };
}

const within = (work: Promise<void> | null, ms: number): Promise<void> =>
  Promise.race([work ?? undefined, wait(ms, undefined, { ref: false })]);

/** What is over is told after so long: it may be back at once. */
const calmMs = 5 * 60_000;
/** Well over what a delivery and its note may take. */
const claimMs = 60_000;
/** After the first failure a try at the next tick, after the second minutes later, then hourly: never in a loop. */
const restMs = (attempts: number): number => [45_000, 5 * 60_000][attempts - 1] ?? 3_600_000;

/** A forecast reads every living slice, tens of thousands with many owners, and speaks of days: not at every tick. */
const freshMs = 5 * 60_000;

/** A little less than a minute: ticks are a minute apart, and runs take now more, now less of it. */
const apartMs = 55_000;
