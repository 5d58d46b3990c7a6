// The package's face: reading an archive. Nothing here writes.
export { openArchive } from './query/archive.ts';
export type {
  Archive,
  ArchiveOptions,
  Bookkeeping,
  CoverageDay,
  CoverageQuery,
  ListPage,
  ListScope,
  NftClass,
  NftClassFilters,
  Order,
  OrderFilters,
  OrderStatus,
  Paging,
  Records,
  Reservation,
  Summary,
} from './query/types.ts';
export type { Day, ListedResource, ProjectId, Proof, SliceState } from './model.ts';
export { isOutlastError, OutlastError, type ErrorKind } from './errors.ts';
