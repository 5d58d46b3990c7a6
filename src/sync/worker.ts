// What a run is given and what it reports: the shapes that run.ts, due-slices.ts and the commands share.
import type { Log } from '../log.ts';
import type { ProjectMeter, RunOutcome } from '../meter.ts';
import type { ListedResource, ProjectId } from '../model.ts';
import type { FileFetcher } from '../platform/certificate-file.ts';
import type { Platform } from '../platform/platform.ts';
import type { Db } from '../store/db.ts';
import type { ProjectSource } from '../store/projects.ts';
import type { RunCounts } from '../store/runs.ts';
import type { Only } from '../store/due.ts';
import type { FileTrouble } from '../verify/certificate-copies.ts';
import type { ArchivedScope, PolicySettings } from './enter-days.ts';
import type { Holder } from './holder.ts';

export type { FileTrouble };

/** A project with all that is needed to work on it. */
export type Worker = {
  projectId: ProjectId;
  scope: ArchivedScope;
  source: ProjectSource;
  platform: Platform;
  db: Db;
  /** By which this process takes the project before it writes. */
  holder: Holder;
  /** Requests under way at a time, for slices. */
  concurrency: number;
  /** Slices worked on at a time; absent: as many as keep that many requests under way. */
  lanes?: number;
  settings: PolicySettings;
  /** Where certificates' files go; null: nowhere. */
  certificatesDir: string | null;
  /** Where the heads of the journal go; absent or null: nowhere. */
  headsDir?: string | null;
  /** Fetches the files behind certificate links; absent or null: they are not kept. */
  certificateFiles?: FileFetcher | null;
  /** How often the tokens are read, in milliseconds; absent or null: never. */
  tokensEveryMs?: number | null;
  /** Counts what is done; absent: nobody does. */
  meter?: ProjectMeter | undefined;
  log: Log;
};

export type RunOptions = {
  signal: AbortSignal;
  /** Only these slices, due or not. Absent: everything due. */
  only?: Only;
  acceptNewSource?: boolean;
  evenIfParked?: boolean;
  /** Also told how many slices were due when the run began. */
  onProgress?: (sofar: RunCounts, slicesDue: number) => void;
};

/** What became of the operations watched. */
export type OperationCounts = {
  /** Turns taken, and what they came to. */
  operationsAsked: number;
  operationsDone: number;
  operationsLost: number;
};

export type RunReport = RunCounts &
  OperationCounts & {
    projectId: ProjectId;
    /**
     * `done`: all that was due; `idle`: no slice was due, which says nothing of the platform; `left`: something due was
     * not done; `parked`; `stopped` by the signal; `failed` is thrown.
     */
    outcome: RunOutcome;
    /** Slices that were due and are not done. */
    slicesLeft: number;
    /** The newest problem, in words. */
    problem: string | null;
    /** Lists that the platform refuses to the key; absent: the run did not come to them. */
    refused?: ListedResource[] | undefined;
    /** What keeps certificates and heads from their files; absent: the run did not come to them. */
    files?: FileTrouble[] | undefined;
  };

/**
 * What a tick of the scheduler made of a project: the report of its run, that one goes on still, that another process holds
 * it, or that no tick comes.
 */
export type TickResult = Pick<RunReport, 'projectId' | 'files'> & {
  outcome: RunReport['outcome'] | 'running' | 'elsewhere' | 'overdue';
};
