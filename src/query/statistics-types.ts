// What statistics take and give. Plain data, as in types.ts: sums are exact decimal text with their unit in the name,
// counts are numbers, and beside every figure stands how much of its period is held.
import type { Day, ProjectId } from '../model.ts';
import {
  count,
  day,
  decimal,
  integer,
  orNull,
  reservationNames,
  text,
  truth,
  words,
} from '../catalogue.ts';
import { order, type Column, type RecordOf } from '../resources.ts';

export type StatisticsQuery = {
  project: ProjectId;
  /** Days, both included; a bound left out is open. A month that they cut is counted in its part. */
  from?: Day;
  to?: Day;
  by: 'day' | 'month';
  /** Whose days are meant, such as Asia/Shanghai; UTC by default. A local day is held when the UTC days that it touches are. */
  zone?: string;
  /**
   * As for lists: by what was known at an instant. Days, and coverage, are those of now; no day is held that was proved
   * later.
   */
  asOf?: string;
};

const period = day('The day, or the first day of the month');
const ofPeriod = {
  isHeld: truth(
    'Whether all of it is held: read whole and proved, no record without a usable id; as of an instant, by then',
  ),
  isSettled: truth('Whether it is, and nothing is pending, so that no sum will change'),
  days: count('Days of the period within `from` and `to`'),
  daysAccounted: count('Of them, days that the ledger knows'),
  daysOpen: count('Not read to their ends yet'),
  daysHeld: count('Days of which all is held'),
  daysSettled: count('Of them, days with nothing pending'),
  daysSealed: count('Proved, with nothing pending, while the platform can still be asked'),
  daysFinal: count('Held, and their month has left the window'),
  daysLost: count('Left the window before they were read: a hole for ever'),
  daysByReadings: count('Proved by two readings alone, the weaker proof'),
  reservations: words('What is not certain, by name; see also rejected', reservationNames),
  rejected: count('Records without a usable id: in no figure'),
};
/**
 * How much of a period is held, counted in its days (P7). Report no figure without it. Nothing shown is left out of a
 * figure that is held; what the platform shows no more (`missingSince`) stays in it.
 */
export type PeriodCoverage = RecordOf<typeof ofPeriod & { period: typeof period }>;

/** Given where they are grouped by it; null where the platform shows none or it could not be read. */
const group = <Of extends Column>(column: Of) => ({ ...orNull(column), isOptional: true }) as const;
type GroupedBy<Row, Name extends keyof Row> = Omit<Row, Name> & Partial<Pick<Row, Name>>;

export type OrderGroup = 'status' | 'account' | 'order_type';
export type OrderStatisticsQuery = StatisticsQuery & { groupBy?: readonly OrderGroup[] };

export const orderFigures = {
  period,
  status: { ...group(integer('Where they are grouped by it')), words: order.status.words },
  account: group(text('Where they are grouped by it')),
  orderType: {
    ...group(integer('Where they are grouped by it')),
    words: order.orderType.words,
  },
  orders: count(),
  succeeded: count(),
  failed: count(),
  pending: count(),
  ofOtherStatus: count('Those whose status is not documented or could not be read'),
  amountFen: decimal('The prices of all these orders, whatever became of them'),
  amountUnits: decimal('The same in whole currency units'),
  withoutAmount: count('Orders whose price is not known: in no sum'),
  spentFen: decimal('The prices of those that succeeded'),
  spentUnits: decimal('The same in whole currency units'),
  pendingFen: decimal('The prices of those still pending'),
  pendingUnits: decimal(),
  numberUgas: decimal('`number` of gas orders'),
  numberFen: decimal('`number` of business fees'),
  creditedGasUgas: decimal('`number` of gas orders that succeeded'),
  creditedFeesFen: decimal('`number` of business fees that succeeded'),
  creditedFeesUnits: decimal(),
  ...ofPeriod,
};
/** A period, or what one group has of it. A period without orders stands in one row, its group null. */
export type OrderFigures = GroupedBy<
  RecordOf<typeof orderFigures>,
  'status' | 'account' | 'orderType'
>;

export const accountSpending = {
  account: orNull(text('Null for orders that show none')),
  orders: count('Within the days that were asked for'),
  succeeded: count(),
  spentFen: decimal('The prices of those that succeeded'),
  spentUnits: decimal('The same in whole currency units'),
  withoutAmount: count('Orders whose price is not known: in no sum'),
};
/** What the orders of an account came to, in the days that were asked for. */
export type AccountSpending = RecordOf<typeof accountSpending>;

export type NftClassStatisticsQuery = StatisticsQuery & { groupBy?: readonly 'owner'[] };

export const nftClassFigures = {
  period,
  owner: group(text('Where they are grouped by it')),
  classes: count(),
  nfts: decimal(),
  classesWithoutCount: count('Classes whose count could not be read: in no sum'),
  isWholeList: truth(
    'False where only some owners’ classes are archived: nothing is claimed about others',
  ),
  ...ofPeriod,
};
/** Classes made in a period and the NFTs in them. */
export type NftClassFigures = GroupedBy<RecordOf<typeof nftClassFigures>, 'owner'>;

export const nftGrowth = {
  period,
  classesChanged: count('Classes of which something became'),
  nftsMinted: decimal('NFTs that they had more than before'),
  nftsBurnt: decimal('NFTs that they had less'),
  transfers: count('Classes that had another owner than before'),
  countsUnread: count('Changes whose growth is not known: a count could not be read'),
};
/**
 * What became of classes in a period, by when it was first seen: it happened since they were looked at before, and they
 * are looked at while their month is in the window. What was there when a class was first seen is in no growth.
 */
export type NftGrowth = RecordOf<typeof nftGrowth>;

export const nftOwner = {
  owner: orNull(text('Null for classes that show none')),
  classes: count(),
  nfts: decimal(),
  firstClassOn: day(),
  newestClassOn: day(),
};
/** An owner of classes as last seen. */
export type NftOwner = RecordOf<typeof nftOwner>;

/**
 * Every method throws what `Records` throws; more than 100,000 rows are refused by `argument_invalid`. By period, then
 * by group.
 */
export type Statistics = {
  orders(query: OrderStatisticsQuery): Promise<OrderFigures[]>;
  /**
   * Those that spent most first, by what is held now of these days, both included; `limit` as for owners. The figures of
   * the same days say how much of them is held.
   */
  accounts(query: {
    project: ProjectId;
    from?: Day;
    to?: Day;
    zone?: string;
    limit?: number;
  }): Promise<AccountSpending[]>;
  nftClasses(query: NftClassStatisticsQuery): Promise<NftClassFigures[]>;
  nftGrowth(query: StatisticsQuery): Promise<NftGrowth[]>;
  /** Those with the most classes first; `limit` is 1 to 10,000, 100 by default. */
  owners(query: { project: ProjectId; limit?: number }): Promise<NftOwner[]>;
};
