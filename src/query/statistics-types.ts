// What statistics take and give. Plain data, as in types.ts: sums are exact decimal text with their unit in the name,
// counts are numbers, and beside every figure stands how much of its period is held.
import type { Day, ProjectId } from '../model.ts';
import type { Reservation } from '../catalogue.ts';

export type StatisticsQuery = {
  project: ProjectId;
  /** UTC days `[from, to)`; a bound left out is open. A month that they cut is counted in its part. */
  from?: Day;
  to?: Day;
  by: 'day' | 'month';
  /**
   * As for lists: by what was known at an instant. Days, and coverage, are those of now; no day is held that was proved
   * later.
   */
  asOf?: string;
};

/** How much of a period is held, counted in its days (P7). Report no figure without it. */
export type PeriodCoverage = {
  /** The day, or the first day of the month. */
  period: Day;
  /** Days of the period that lie within `from` and `to`. */
  days: number;
  /** Of them, days that the ledger knows; the others lie before the first day of the archive or in the future. */
  daysAccounted: number;
  /** Not read to their ends yet. */
  daysOpen: number;
  /** Days of which all is held; of these, days with nothing pending. */
  daysHeld: number;
  daysSettled: number;
  /** Proved, with nothing pending, while the platform can still be asked; and those whose month has left the window. */
  daysSealed: number;
  daysFinal: number;
  /** Left the window before they were read whole: a hole for ever. */
  daysLost: number;
  /** Proved by two readings alone, the weaker proof. */
  daysByReadings: number;
  reservations: Reservation[];
  /** Records without a usable id: in no figure. */
  rejected: number;
  /**
   * Whether all of it is held: every day is, and as of an instant was proved by then. Nothing shown is left out of the
   * figure; what the platform shows no more (`missingSince`) stays in it.
   */
  isHeld: boolean;
  /** Whether it is, and nothing is pending, so that no sum will change. */
  isSettled: boolean;
};

export type OrderGroup = 'status' | 'account' | 'order_type';
export type OrderStatisticsQuery = StatisticsQuery & { groupBy?: readonly OrderGroup[] };

/** A period, or what one group has of it. A period without orders stands in one row, its group null. */
export type OrderFigures = PeriodCoverage & {
  /** Given where they are grouped by; null where the platform shows none or it could not be read. */
  status?: number | null;
  account?: string | null;
  orderType?: number | null;
  orders: number;
  succeeded: number;
  failed: number;
  pending: number;
  ofOtherStatus: number;
  /** The prices of all these orders, whatever became of them, in fen and in whole currency units. */
  amountFen: string;
  amountUnits: string;
  /** Orders whose price is not known: in no sum. */
  amountUnknown: number;
  /** The prices of those that succeeded, and of those still pending. */
  spentFen: string;
  spentUnits: string;
  pendingFen: string;
  pendingUnits: string;
  /**
   * `number` of gas orders, in ugas, and of business fees, in fen: of all these orders, and of those that succeeded.
   */
  numberUgas: string;
  numberFen: string;
  creditedGasUgas: string;
  creditedFeesFen: string;
  creditedFeesUnits: string;
};

/** What the orders of an account came to, in the days that were asked for. */
export type AccountSpending = {
  /** Null for orders that show none. */
  account: string | null;
  orders: number;
  succeeded: number;
  /** The prices of those that succeeded, in fen and in whole currency units. */
  spentFen: string;
  spentUnits: string;
  /** Orders whose price is not known: in no sum. */
  amountUnknown: number;
};

export type NftClassStatisticsQuery = StatisticsQuery & { groupBy?: readonly 'owner'[] };

/** Classes made in a period and the NFTs in them. */
export type NftClassFigures = PeriodCoverage & {
  /** Given where they are grouped by it. */
  owner?: string | null;
  classes: number;
  nfts: string;
  /** Classes whose count could not be read: in no sum. */
  countsUnread: number;
  /** False where only some owners' classes are archived: nothing is claimed about others. */
  isWholeList: boolean;
};

/**
 * What became of classes in a period, by when it was first seen: it happened since they were looked at before, and they
 * are looked at while their month is in the window. What was there when a class was first seen is in no growth.
 */
export type NftGrowth = {
  period: Day;
  classesChanged: number;
  nftsMinted: string;
  nftsBurnt: string;
  transfers: number;
  /** Changes of which the growth is not known: a count could not be read. */
  countsUnread: number;
};

/** An owner of classes as last seen. */
export type NftOwner = {
  owner: string | null;
  classes: number;
  nfts: string;
  firstClassOn: Day;
  newestClassOn: Day;
};

/**
 * Every method throws what `Records` throws; more than 100,000 rows are refused by `argument_invalid`. By period, then
 * by group.
 */
export type Statistics = {
  orders(query: OrderStatisticsQuery): Promise<OrderFigures[]>;
  /**
   * Those that spent most first, by what is held now of the days `[from, to)`; `limit` as for owners. The figures of
   * the same days say how much of them is held.
   */
  accounts(query: {
    project: ProjectId;
    from?: Day;
    to?: Day;
    limit?: number;
  }): Promise<AccountSpending[]>;
  nftClasses(query: NftClassStatisticsQuery): Promise<NftClassFigures[]>;
  nftGrowth(query: StatisticsQuery): Promise<NftGrowth[]>;
  /** Those with the most classes first; `limit` is 1 to 10,000, 100 by default. */
  owners(query: { project: ProjectId; limit?: number }): Promise<NftOwner[]>;
};
