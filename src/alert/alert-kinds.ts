// The kinds of alerts, and what sets one apart from another. A table; it decides nothing itself.

import type { AlertKind } from '../model.ts';

type About = {
  /** What has happened and stays so: told once, and again when more of it happens; nothing to recover from. */
  isNews: boolean;
  /** While it holds, not all is well: the heartbeat stays away. */
  stopsHeartbeat: boolean;
  /** Kinds that end in this one, for the same subject: their end is no recovery and is not told as one. */
  ends: readonly AlertKind[];
};

// prettier-ignore
const table: Record<AlertKind, About> = {
  deadline_at_risk: { isNews: false, stopsHeartbeat: true, ends: [] },
  deadline_missed: { isNews: false, stopsHeartbeat: true, ends: ['deadline_at_risk', 'proof_fails'] },
  day_lost: { isNews: true, stopsHeartbeat: false, ends: ['deadline_at_risk', 'deadline_missed', 'proof_fails'] },
  day_unproved: { isNews: true, stopsHeartbeat: false, ends: ['deadline_at_risk', 'deadline_missed', 'proof_fails'] },
  // Nothing is sealed or decided meanwhile, and only a person can set a clock right.
  clock_disagrees: { isNews: false, stopsHeartbeat: true, ends: [] },
  // A single mistyped id would keep the heartbeat away for days.
  operation_at_risk: { isNews: false, stopsHeartbeat: false, ends: [] },
  operation_lost: { isNews: true, stopsHeartbeat: false, ends: ['operation_at_risk'] },
  // One stubborn day must not hide that the service lives; its deadline speaks up in time.
  proof_fails: { isNews: false, stopsHeartbeat: false, ends: [] },
  records_missing: { isNews: true, stopsHeartbeat: false, ends: [] },
  rejects: { isNews: true, stopsHeartbeat: false, ends: [] },
  fact_changed: { isNews: true, stopsHeartbeat: false, ends: [] },
  // What was archived is as safe as before; its copies beyond the database are not made.
  files_unwritten: { isNews: false, stopsHeartbeat: false, ends: [] },
  export_failed: { isNews: false, stopsHeartbeat: false, ends: [] },
  archive_altered: { isNews: false, stopsHeartbeat: true, ends: [] },
  parked: { isNews: false, stopsHeartbeat: true, ends: ['run_failed'] },
  run_failed: { isNews: false, stopsHeartbeat: true, ends: [] },
};

const unknown: About = { isNews: false, stopsHeartbeat: false, ends: [] };

/** What is known of a kind; a later release may have left a row of a kind that this one does not know. */
export const aboutKind = (kind: string): About => ({ ...unknown, ...table[kind as AlertKind] });
