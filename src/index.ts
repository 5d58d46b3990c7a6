// The package's face: reading an archive, and `watch`, which alone writes: it enters operations to ask for.
export { openArchive } from './query/archive.ts';
export {
  watch,
  type NewOperation,
  type Watched,
  type WatchOptions,
} from './store/operations/enter.ts';
export type {
  Archive,
  ArchiveOptions,
  CertificateFile,
  Change,
  Changes,
  ChangesPage,
  ChangesQuery,
  ListPage,
  ListScope,
  NftClass,
  NftClassFilters,
  Order,
  OrderFilters,
  OrderStatus,
  Page,
  Paging,
  Records,
  Summary,
  Token,
  TokenList,
  Tokens,
  Transaction,
  TransactionQuery,
  Transactions,
  Version,
} from './query/types.ts';
export type { Bookkeeping } from './resources.ts';
export type {
  Balance,
  BalanceQuery,
  CoverageDay,
  CoverageQuery,
  Reservation,
} from './query/book-types.ts';
export type {
  CertificateQuery,
  MonthCertificate,
  PagedForward,
  Reject,
  RejectQuery,
  RejectWithBytes,
  Run,
  RunQuery,
  WatchedOperation,
  WatchedQuery,
} from './query/book-types.ts';
export type {
  Alert,
  Counted,
  DayEntry,
  DayReading,
  DayQuery,
  DayReport,
  Progress,
  Recent,
  RecentQuery,
} from './query/report-types.ts';
export type {
  AccountSpending,
  NftClassFigures,
  NftClassStatisticsQuery,
  NftGrowth,
  NftOwner,
  OrderFigures,
  OrderGroup,
  OrderStatisticsQuery,
  PeriodCoverage,
  Statistics,
  StatisticsQuery,
} from './query/statistics-types.ts';
export type {
  ApiVersion,
  Day,
  ListedResource,
  ProjectId,
  Proof,
  Resource,
  SliceState,
  WatchedState,
} from './model.ts';
export { isOutlastError, OutlastError, type ErrorKind } from './errors.ts';
