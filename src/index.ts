// The package's face: reading an archive, and `watch`, which alone writes: it enters operations to ask for.
// No declaration that it leads to may name a type of `pg`, which its users' compilers do not know.
import { silentLog } from './log.ts';
import type { NewOperation, ProjectId, Watched } from './model.ts';
import { openDb } from './store/db.ts';
import { checkNewOperations, watchOperations } from './store/operations/watch-operations.ts';

export { openArchive } from './query/archive.ts';

export type WatchOptions = {
  /** `postgres://user:password@host:5432/database`; the user is a member of `outlast_writer`. */
  connectionString: string;
  project: ProjectId;
  operations: readonly NewOperation[];
};

/**
 * Enters operations whose results are to be asked for until they are final; the next run asks. An id given twice counts
 * once. Throws settings `operations_invalid`, `unknown_project` or `database_…`, and transient `database_unreachable`.
 */
export async function watch({ connectionString, ...given }: WatchOptions): Promise<Watched> {
  checkNewOperations(given.operations);
  const db = await openDb({
    connectionString,
    max: 1,
    applicationName: 'outlast watch',
    log: silentLog(),
  });
  try {
    return await watchOperations(db, given.project, given.operations);
  } finally {
    await db.close();
  }
}

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
  Paging,
  Records,
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
  Alert,
  Balance,
  BalanceQuery,
  CertificateQuery,
  ChangedRecord,
  ChangedRecordQuery,
  CoverageDay,
  CoverageQuery,
  Fact,
  FactQuery,
  MonthCertificate,
  Page,
  PagedForward,
  Reject,
  RejectQuery,
  RejectWithBytes,
  Reservation,
  Run,
  RunQuery,
  WatchedOperation,
  WatchedQuery,
} from './catalogue.ts';
export type {
  Counted,
  DayEntry,
  DayReading,
  DayQuery,
  DayReport,
  Progress,
  Recent,
  RecentQuery,
  Summary,
} from './query/reports.ts';
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
  NewOperation,
  ProjectId,
  Proof,
  Resource,
  SliceState,
  Watched,
  WatchedState,
} from './model.ts';
export { isOutlastError, OutlastError, type ErrorKind } from './errors.ts';
