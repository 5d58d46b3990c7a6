// What verifying finds: one shape for everything that does not follow, as a person reads it and as JSON. Pure.
import type { Day, ProjectId, Resource } from '../model.ts';

/**
 * What is wrong:
 *   altered      a record, version, reject or certificate file is not what it was
 *   missing      a record that was certified is not held, a content or reject that the journal says was kept, or the
 *                file of an operation
 *   extra        a record is held that nobody asked for, or as of a certified moment and is not certified, or a
 *                content that the journal knows nothing of
 *   ledger       a day of the ledger, or a page of it, is not what the journal says of it
 *   journal      the journal does not follow from itself, or not from a head that was kept elsewhere
 *   column       a typed column does not follow from the record
 *   day          the digest of a certified day differs, and no leaves are there to tell which record it is
 *   certificate  a certificate contradicts itself, its file or the one after it
 *   file         a file beside the archive is not what its certificate says
 *   platform     the platform counts a proved day differently now, or gives another result
 */
export type FindingKind =
  | 'altered'
  | 'missing'
  | 'extra'
  | 'ledger'
  | 'journal'
  | 'column'
  | 'day'
  | 'certificate'
  | 'file'
  | 'platform';

export type Finding = {
  kind: FindingKind;
  project: ProjectId;
  /** Null where it is about the whole project. */
  resource: Resource | null;
  /** The day, or the month as `yyyy-MM`; null where it is about neither. */
  when: Day | null;
  /** The record's id; null where it is about none. */
  id: string | null;
  /** In words, as the end of "there is something wrong: …". */
  says: string;
};

/** Where findings go, one at a time: there may be as many as there are records. */
export type Report = (
  finding: Pick<Finding, 'kind' | 'when' | 'id' | 'says'>,
) => Promise<void> | void;
