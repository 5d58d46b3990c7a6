// What a certificate says. Its exact bytes are canonical JSON and a line feed (platform/canonical.ts), so that the file,
// the row and every copy of either are the same. docs/verify.md tells what each field means.
import * as z from 'zod';
import type { Day } from '../model.ts';
import type { CertifiedBooks, CoveredSlice, DatedFact } from '../store/certificates.ts';

/** The first version of the format; another one would say so here. */
export const certificateFormat = 'outlast-certificate-1';

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const month = z.string().regex(/^\d{4}-\d\d$/);
/** For people: nothing is checked by it. */
const unchecked = <T>(): z.ZodType<T> => z.custom<T>(() => true);

const certificateShape = z.object({
  format: z.literal(certificateFormat),
  project: z.string(),
  resource: z.string(),
  month,
  /** Certified is what had been observed by then, on the platform's clock. */
  certified_at: z.string(),
  records: z.number(),
  digest,
  leaves_sha256: digest,
  /** Days of which a slice was lost; of which not all is held, these included; and with something pending. */
  lost_days: z.array(unchecked<Day>()),
  days_not_held: z.array(unchecked<Day>()),
  days_not_settled: unchecked<Day[]>(),
  books: z.array(unchecked<CertifiedBooks>()),
  facts: unchecked<DatedFact[]>(),
  /** Where the project's journal stood: an entry, and its head, which covers all before it. */
  journal: z.object({ no: z.number().int(), head: digest }).nullable(),
  /** The certificate of the same list that was issued before this one, by the digest of its bytes. */
  previous: z.object({ month, sha256: digest }).nullable(),
  /** 1 for the first certificate of the month. */
  issue: z.number(),
  /** The certificate of the same month that this one takes the place of, and why. */
  replaces: unchecked<{ issue: number; sha256: string | null; why: string } | null>(),
  days: z.array(
    z.object({
      day: z.string(),
      records: z.number(),
      digest,
      slices: unchecked<Omit<CoveredSlice, 'day' | 'is_held' | 'is_settled'>[]>(),
    }),
  ),
});

export type Certificate = z.infer<typeof certificateShape>;

/** A held certificate; null where it is none of this format. */
export function readCertificate(text: string): Certificate | null {
  const read = certificateShape.safeParse(JSON.parse(text));
  return read.success ? read.data : null;
}
