// How much of anything foreign is taken in: the one place that says it. What each of them costs at worst is measured
// and told in docs/design.md.

const KiB = 1024;
const MiB = 1024 * KiB;

/** All lengths in bytes. */
export const byteBounds = {
  /** An answer. A longer one is not read on, and its page is asked for again with a smaller limit. */
  answer: 64 * MiB,
  /** A record. A longer one is set aside: its beginning, its length and the digest of all of it are kept. */
  record: 512 * KiB,
  /** What is kept of the beginning of such a record. */
  beginning: 16 * KiB,
  /** A record as canonical JSON: a number of ten characters may stand for a hundred thousand digits. */
  canonical: 8 * MiB,
  /** A string that is no part of a record: a page key. */
  string: 64 * KiB,
  /** What is read of an answer that is a refusal. */
  refusal: 64 * KiB,
} as const;
