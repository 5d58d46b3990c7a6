// A lease as SQL, the same for slices, watched operations and snapshots of tokens: who holds a row, until when by the
// database's clock, and the epoch that every claim raises, so that whoever held it before writes nothing any more (P8).
// How long it lasts is a setting: src/settings/table.ts.

/**
 * A condition: nobody holds the row. Leases last so many seconds, a day at most; one that ends later than two of them is
 * from before the database's clock was set back, and binds nobody.
 */
export const isFree = (seconds = '86400'): string =>
  `(lease_until is null or lease_until not between statement_timestamp() and statement_timestamp() + 2 * make_interval(secs => ${seconds}))`;

/**
 * A value: so many seconds from now, which is when the statement began. One that waited for a lock leases for less, at
 * worst for nothing: then the epoch decides, as ever (P8).
 */
export const leaseEnd = (seconds: string): string =>
  `statement_timestamp() + make_interval(secs => ${seconds})`;

/** An assignment: the row `of` is claimed. */
export const claimed = (of: string, holder: string, seconds: string): string =>
  `lease_holder = ${holder}, lease_epoch = ${of}lease_epoch + 1, lease_until = ${leaseEnd(seconds)}`;

/** An assignment: the lease is given back. */
export const givenBack = 'lease_holder = null, lease_until = null';
