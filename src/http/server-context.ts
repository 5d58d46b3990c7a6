// What every part of the server is given: the archive, who is let in, the clocks, and what an error is answered with.
import type { Instant, ProjectId, SettingInForce } from '../model.ts';
import type { Archive } from '../query/types.ts';
import type { Gate } from './access.ts';
import type { Answer } from './http-answers.ts';
import type { Sessions } from './web/session.ts';

export type ServerContext = {
  archive: Archive;
  /**
   * For `/archive/v1` and the pages, with connections of its own: lists, counts and sums may take seconds, and neither
   * the platform's clients nor whoever asks whether the service is well are to wait for them.
   */
  archiveOfV1: Archive;
  gate: Gate;
  sessions: Sessions;
  /** The project whose classes stand for the platform's list, which depends on no key. */
  classesOf: (project: ProjectId) => ProjectId;
  /** Of this process: what `/archive/v1/settings` shows. */
  settings: readonly SettingInForce[];
  /** Whether the process still works, beside answering. */
  isAlive: () => boolean;
  /** This machine's clock: signatures and cookies are checked by it. */
  now: () => Instant;
  /** The time by which a project's deadlines are told: the platform's. */
  timeOf: (project: ProjectId) => Instant;
  /** Logs what is no mistake of the reader's. */
  answerOf: (error: unknown) => Answer;
};

/** The settings, for whoever may read every project; null for anybody else. */
export const settingsFor = (
  { gate, settings }: ServerContext,
  readable: readonly ProjectId[],
): ServerContext['settings'] | null =>
  gate.projects.every((id) => readable.includes(id)) ? settings : null;
