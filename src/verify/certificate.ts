// What a certificate says, and its exact bytes: canonical JSON (platform/canonical.ts) and a line feed, so that the
// file, the row and every copy of either are the same. docs/verify.md tells what each field means.
import * as z from 'zod';
import type { Day, ListedResource, ProjectId } from '../model.ts';
import { canonical, sha256 } from '../platform/canonical.ts';
import { parseJson } from '../platform/json.ts';
import type {
  CertifiedBooks,
  CoveredSlice,
  DatedFact,
  HeldCertificate,
  Replaced,
} from '../store/certificates.ts';
import type { Head } from '../store/journal/heads.ts';
import type { MonthDigest } from './digest.ts';

/** The first version of the format; another one would say so here. */
export const certificateFormat = 'outlast-certificate-1';

export type CertifiedSlice = {
  /** '' for the whole list. */
  owner: string;
  state: string;
  proof: string;
  proved_at: string | null;
  walked_at: string | null;
  platform_total: number | null;
  shown_total: number | null;
  unresolved: number;
  rejected: number;
  reservations: string[];
};

export type CertifiedDay = {
  day: Day;
  records: number;
  digest: string;
  slices: CertifiedSlice[];
};

export type Certificate = {
  format: typeof certificateFormat;
  project: ProjectId;
  resource: ListedResource;
  /** `yyyy-MM`. */
  month: string;
  /** Certified is what had been observed by then, on the platform's clock. */
  certified_at: string;
  records: number;
  digest: string;
  leaves_sha256: string;
  /** Days of which a slice was lost; of which not all is held, these included; and with something pending. */
  lost_days: Day[];
  days_not_held: Day[];
  days_not_settled: Day[];
  books: CertifiedBooks[];
  facts: DatedFact[];
  /** Where the project's journal stood: an entry, and its head, which covers all before it. */
  journal: { no: number; head: string } | null;
  /** The certificate of the same list that was issued before this one, by the digest of its bytes. */
  previous: { month: string; sha256: string } | null;
  /** 1 for the first certificate of the month. */
  issue: number;
  /** The certificate of the same month that this one takes the place of, and why. */
  replaces: { issue: number; sha256: string | null; why: string } | null;
  days: CertifiedDay[];
};

export type Certified = {
  projectId: ProjectId;
  resource: ListedResource;
  month: Day;
  certifiedAt: string;
  contents: MonthDigest;
  coverage: CoveredSlice[];
  books: CertifiedBooks[];
  facts: DatedFact[];
  head: Head | null;
  previous: { month: Day; text: string } | null;
  replaces: Replaced | null;
};

/** A certificate as it is entered. */
export function certify(given: Certified): HeldCertificate {
  const { projectId, resource, month, certifiedAt, contents, coverage } = given;
  const { head, previous, replaces } = given;
  const issue = (replaces?.issue ?? 0) + 1;
  const certificate: Certificate = {
    format: certificateFormat,
    project: projectId,
    resource,
    month: month.slice(0, 7),
    certified_at: certifiedAt,
    records: contents.records,
    digest: contents.digest,
    leaves_sha256: contents.leavesSha256,
    lost_days: daysWith(coverage, (slice) => slice.state === 'lost'),
    days_not_held: daysWith(coverage, (slice) => !slice.is_held),
    days_not_settled: daysWith(coverage, (slice) => slice.unresolved > 0),
    books: given.books,
    facts: given.facts,
    journal: head === null ? null : { no: head.no, head: head.head },
    previous:
      previous === null
        ? null
        : { month: previous.month.slice(0, 7), sha256: sha256(bytesOf(previous.text)) },
    issue,
    replaces:
      replaces === null
        ? null
        : {
            issue: replaces.issue,
            sha256: replaces.sha256,
            why: 'it is no longer held',
          },
    days: contents.days.map(({ day, records, digest }) => ({
      day,
      records,
      digest,
      slices: coverage.filter((slice) => slice.day === day).map(certifiedSlice),
    })),
  };
  return {
    month,
    issue,
    certifiedAt,
    digest: contents.digest,
    leavesSha256: contents.leavesSha256,
    text: JSON.stringify(certificate),
  };
}

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const month = z.string().regex(/^\d{4}-\d\d$/);

/** What checking a certificate needs of it; the rest is for people. */
const claims = z.object({
  format: z.literal(certificateFormat),
  project: z.string(),
  resource: z.string(),
  month,
  certified_at: z.string(),
  records: z.number(),
  digest,
  leaves_sha256: digest,
  books: z.array(z.unknown()),
  journal: z.object({ no: z.number().int(), head: digest }).nullable(),
  previous: z.object({ month, sha256: digest }).nullable(),
  issue: z.number(),
  days: z.array(z.object({ day: z.string(), records: z.number(), digest })),
});

export type Claims = z.infer<typeof claims>;

/** A held certificate's claims; null where it is none of this format. */
export function claimsOf(text: string): Claims | null {
  const read = claims.safeParse(JSON.parse(text));
  return read.success ? read.data : null;
}

/** The bytes of a certificate's file, from its JSON in any spelling. Throws SyntaxError on what is no JSON. */
export const bytesOf = (text: string): string => `${canonical(parseJson(text)).text}\n`;

function daysWith(coverage: CoveredSlice[], wanted: (slice: CoveredSlice) => boolean): Day[] {
  return [...new Set(coverage.filter(wanted).map(({ day }) => day))].toSorted();
}

const certifiedSlice = (slice: CoveredSlice): CertifiedSlice => ({
  owner: slice.owner,
  state: slice.state,
  proof: slice.proof,
  proved_at: slice.proved_at,
  walked_at: slice.walked_at,
  // Counts of records: far below 2^53.
  platform_total: slice.platform_total === null ? null : Number(slice.platform_total),
  shown_total: slice.shown_total === null ? null : Number(slice.shown_total),
  unresolved: slice.unresolved,
  rejected: Number(slice.rejected),
  reservations: slice.reservations,
});
