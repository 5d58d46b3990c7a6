// What every door of the server has at hand: the archive, who is let in, the clocks, and what an error is answered with.
import type { Instant, ProjectId, SettingInForce } from '../model.ts';
import type { Archive } from '../query/types.ts';
import type { Gate } from './gate.ts';
import type { Answer } from './http-answers.ts';
import type { Sessions } from './web/session.ts';

export type Serving = {
  archive: Archive;
  /** For `/archive/v1` and the pages: with connections of its own. */
  archiveOfV1: Archive;
  gate: Gate;
  sessions: Sessions;
  /** The project whose classes stand for the platform's list, which depends on no key. */
  classesOf: (project: ProjectId) => ProjectId;
  /** Of this process. */
  settings: readonly SettingInForce[];
  /** Whether the process still works, beside answering. */
  isAlive: () => boolean;
  /** This machine's clock: signatures and cookies are checked by it. */
  now: () => Instant;
  /** The time by which a project's deadlines are told. */
  timeOf: (project: ProjectId) => Instant;
  /** Logs what is no mistake of the reader's. */
  answerOf: (error: unknown) => Answer;
};

/** The settings, for whoever may read every project; null for anybody else. */
export const settingsFor = (
  { gate, settings }: Serving,
  readable: readonly ProjectId[],
): Serving['settings'] | null =>
  gate.projects.every((id) => readable.includes(id)) ? settings : null;
