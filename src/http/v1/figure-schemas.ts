// Figures as `/archive/v1` gives them: exact sums as decimal text with their unit in the name, and beside each how much
// of its period is held (P7).
import type {
  AccountSpending,
  NftClassFigures,
  NftGrowth,
  NftOwner,
  OrderFigures,
  PeriodCoverage,
} from '../../query/statistics-types.ts';
import * as kind from './answer-schemas.ts';
import { row, type RowShape } from './answer-schemas.ts';

const { textOrNull, whole, wholeOrNull, day, decimal, truth } = kind;

const period = day.describe('The day, or the first day of the month');
const coverage: RowShape<Omit<PeriodCoverage, 'period'>> = {
  isHeld: kind.isHeld,
  isSettled: kind.isSettled,
  days: whole.describe('Days of the period within `from` and `to`'),
  daysAccounted: whole.describe('Of them, days that the ledger knows'),
  daysOpen: whole.describe('Not read to their ends yet'),
  daysHeld: whole.describe('Days of which all is held'),
  daysSettled: whole.describe('Of them, days with nothing pending'),
  daysSealed: whole,
  daysFinal: whole,
  daysLost: whole.describe('Left the window before they were read: a hole for ever'),
  daysByReadings: whole.describe('Proved by two readings alone, the weaker proof'),
  reservations: kind.reservations,
  rejected: whole.describe('Records without a usable id: in no figure'),
};

export const orderFigures = row<OrderFigures>('OrderFigures', 'Orders of a period', {
  period,
  status: wholeOrNull.optional().describe('Where they are grouped by it'),
  account: textOrNull.optional().describe('Where they are grouped by it'),
  orderType: wholeOrNull.optional().describe('Where they are grouped by it'),
  orders: whole,
  succeeded: whole,
  failed: whole,
  pending: whole,
  ofOtherStatus: whole,
  amountFen: decimal.describe('The prices of all these orders, whatever became of them'),
  amountUnits: decimal.describe('The same in whole currency units'),
  amountUnknown: whole.describe('Orders whose price is not known: in no sum'),
  spentFen: decimal.describe('The prices of those that succeeded'),
  spentUnits: decimal,
  pendingFen: decimal.describe('The prices of those still pending'),
  pendingUnits: decimal,
  numberUgas: decimal.describe('`number` of gas orders'),
  numberFen: decimal.describe('`number` of business fees'),
  creditedGasUgas: decimal.describe('Of those that succeeded'),
  creditedFeesFen: decimal.describe('Of those that succeeded'),
  creditedFeesUnits: decimal,
  ...coverage,
});

export const accountSpending = row<AccountSpending>(
  'AccountSpending',
  'What the orders of an account came to',
  {
    account: textOrNull,
    orders: whole,
    succeeded: whole,
    spentFen: decimal.describe('The prices of those that succeeded'),
    spentUnits: decimal.describe('The same in whole currency units'),
    amountUnknown: whole.describe('Orders whose price is not known: in no sum'),
  },
);

export const nftClassFigures = row<NftClassFigures>('NftClassFigures', 'Classes made in a period', {
  period,
  owner: textOrNull.optional().describe('Where they are grouped by it'),
  classes: whole,
  nfts: decimal,
  countsUnread: whole.describe('Classes whose count could not be read: in no sum'),
  isWholeList: truth.describe('False where only some owners’ classes are archived'),
  ...coverage,
});

export const nftGrowth = row<NftGrowth>(
  'NftGrowth',
  'What became of classes, by when it was first seen',
  {
    period,
    classesChanged: whole,
    nftsMinted: decimal,
    nftsBurnt: decimal,
    transfers: whole,
    countsUnread: whole.describe('Changes whose growth is not known'),
  },
);

export const nftOwner = row<NftOwner>('NftOwner', 'An owner of classes as last seen', {
  owner: textOrNull,
  classes: whole,
  nfts: decimal,
  firstClassOn: day,
  newestClassOn: day,
});
