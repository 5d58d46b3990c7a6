// What came in within a range of days: charts with the same figures as tables, each period with how much of it is held.
import { addDays, dayOf, isDay } from '../../../day.ts';
import type { Day, Instant } from '../../../model.ts';
import type {
  AccountSpending,
  NftClassFigures,
  NftGrowth,
  NftOwner,
  OrderFigures,
} from '../../../query/statistics-types.ts';
import { isZone } from '../../../query/arguments.ts';
import { order } from '../../../resources.ts';
import {
  axisOf,
  Figure,
  isHeld,
  outcomes,
  sumsOf,
  together,
  type By,
  type FigureRange,
  type Series,
} from '../chart.tsx';
import { sumOf } from '../format.ts';
import { Cut, grouped, ProjectField, Table, Tile, type TableColumn } from '../parts.tsx';
import { linkTo, type Made, type Page, type View } from '../view.ts';

export const figuresPage: Page = { path: '/figures', nav: 'figures', read };

const lastDays = 60;
const rows = 10;
const utc = 'UTC';
/** To choose from; the address takes every name of a zone. */
const zones = [utc, 'Asia/Shanghai'];
/** More than these are added up by account only for whoever asks: a million take a second, and ten million twelve. */
const manyOrders = 1_000_000;

async function read(view: View): Promise<Made> {
  const { t, archive, project } = view;
  const range = rangeIn(view);
  const { by, from, to, zone } = range;
  const bounds = {
    ...(from === '' ? {} : { from }),
    ...(to === '' ? {} : { to }),
    ...(zone === utc ? {} : { zone }),
  };
  const classes = { project: view.classesOf(project), ...bounds, by };
  const [orders, made, growth, owners] = await Promise.all([
    archive.statistics.orders({ project, ...bounds, by, groupBy: ['order_type'] }),
    archive.statistics.nftClasses(classes),
    archive.statistics.nftGrowth(classes),
    archive.statistics.owners({ project: classes.project, limit: rows }),
  ]);
  const isQuick = orders.reduce((sum, row) => sum + row.orders, 0) <= manyOrders;
  const accounts =
    isQuick || view.query.has('accounts')
      ? await archive.statistics.accounts({ project, ...bounds, limit: rows })
      : null;
  const isEmpty = orders.length + made.length === 0;
  return {
    title: t('What came in'),
    twin: linkTo(view, '/archive/v1/statistics/orders', { ...bounds, by, group_by: 'order_type' }),
    isLocal: zone !== utc,
    body: (
      <>
        <h1>{t('What came in')}</h1>
        <Form view={view} range={range} />
        {zone !== utc && (
          <p class="soft">
            {t(
              'Days and months are those of {zone}. A day is held when all UTC days that it touches are.',
              { zone },
            )}
          </p>
        )}
        {isEmpty ? (
          <p class="lead">{t('Nothing came in within these days.')}</p>
        ) : (
          <>
            <InSum view={view} range={range} orders={orders} made={made} />
            <Orders view={view} range={range} orders={orders} />
            <Classes view={view} range={range} made={made} growth={growth} />
            <Accounts view={view} range={range} accounts={accounts} orders={orders} />
            <Owners view={view} owners={owners} />
          </>
        )}
      </>
    ),
  };
}

/** As the form was sent; the last 60 days by day, or all months, unless it says otherwise. */
function rangeIn({ query, now }: View): FigureRange {
  const by = query.get('by') || 'day';
  const given = { from: query.get('from') ?? '', to: query.get('to') ?? '' };
  const zone = query.get('zone') || utc;
  const isUnbounded = given.from === '' && given.to === '' && by === 'day';
  const end = todayIn(zone, now);
  // Days to come would count as days that are not held. What is no day is refused by the library, in words.
  const isOpen = given.to === '' || (isDay(given.to) && given.to > end);
  const to = isOpen && given.from <= end ? end : given.to;
  const from = isUnbounded ? addDays(to, 1 - lastDays) : given.from;
  return { by: by as By, from, to, zone };
}

/** A name that is no zone's is refused by the library, in words. */
const todayIn = (zone: string, now: Instant): Day =>
  isZone(zone) ? new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(now) : dayOf(now);

function Form({ view, range: { by, from, to, zone } }: { view: View; range: FigureRange }) {
  const { t, words } = view;
  const inZone = zone === utc ? {} : { zone };
  return (
    <>
      <form class="filter" action="/figures" method="get">
        <ProjectField view={view} />
        {Object.entries({ from, to }).map(([name, day]) => (
          <div>
            <label for={name}>{words.fields[name]}</label>
            <input id={name} name={name} type="date" value={isDay(day) ? day : ''} />
          </div>
        ))}
        <div>
          <label for="by">{t('By')}</label>
          <select id="by" name="by">
            {Object.entries({ day: t('day'), month: t('month') }).map(([one, word]) => (
              <option value={one} selected={one === by}>
                {word}
              </option>
            ))}
          </select>
        </div>
        <div>
          <label for="zone">{t('Time zone')}</label>
          <select id="zone" name="zone">
            {[...new Set([...zones, zone])].map((one) => (
              <option value={one} selected={one === zone}>
                {one}
              </option>
            ))}
          </select>
        </div>
        <button>{t('Show')}</button>
      </form>
      <p class="pages">
        <a href={linkTo(view, '/figures', inZone)}>{t('The last 60 days')}</a>
        <a href={linkTo(view, '/figures', { ...inZone, by: 'month' })}>{t('All months')}</a>
      </p>
    </>
  );
}

type Part = { view: View; range: FigureRange };

function Orders({ view, range, orders }: Part & { orders: readonly OrderFigures[] }) {
  const { t, words } = view;
  const periods = axisOf(orders);
  const of = sumsOf(periods, orders);
  const amounts: Series[] = [
    { label: t('spent'), colour: 'accent', values: of((row) => row.spentUnits) },
    { label: words.terms.pending, colour: 'open', values: of((row) => row.pendingUnits) },
    {
      label: t('price unknown'),
      colour: null,
      values: of((row) => row.withoutAmount),
      isRare: true,
    },
  ];
  const types = [...new Set(orders.filter((row) => row.orders > 0).map((row) => row.orderType))];
  const byType = types.map((type, i) => ({
    label:
      type === null || type === undefined
        ? t('unknown')
        : (words.terms[typeNames[type] ?? ''] ?? t('type {type}', { type: String(type) })),
    colour: colours[i % colours.length] ?? 'open',
    values: of((row) => (row.orderType === type ? row.orders : 0)),
  }));
  const figure = { view, range, periods, list: 'orders', statistics: 'orders' };
  return (
    <>
      <Figure id="orders" title={t('Orders by outcome')} series={outcomes(view, of)} {...figure} />
      <Figure id="amounts" title={t('Spent, in currency units')} series={amounts} {...figure} />
      <Figure
        id="types"
        title={t('Orders by type')}
        series={byType}
        groupBy="order_type"
        {...figure}
      />
    </>
  );
}

const typeNames: Readonly<Record<number, string>> = order.orderType.words;
const colours = ['accent', 'open', 'read', 'held', 'bad'];

/** Everything in sum, and how much of its days is held; striped is what is not. */
function InSum(
  props: Part & { orders: readonly OrderFigures[]; made: readonly NftClassFigures[] },
) {
  const { view, range, orders, made } = props;
  const { t, words } = view;
  const of = together(axisOf(orders));
  const sum = <Row,>(rows: readonly Row[], of: (row: Row) => number | string): string =>
    grouped(sumOf(rows.map(of)));
  return (
    <>
      <p class="lead">
        {t(
          '{held} of {of} days are all held; {settled} of them are settled, with no order pending',
          { held: of.daysHeld, settled: of.daysSettled, of: of.days },
        )}
      </p>
      {!isHeld(of) && (
        <p class="notice mild">
          <span class="stripes" aria-hidden="true" />{' '}
          {t(
            range.zone === utc
              ? 'Striped: not all is held, for days are not read or not proved yet, as today never is. Do not report these as they stand.'
              : 'Striped: not all is held, for days are not read or not proved yet, as today never is, or lie partly before the archive’s first day. Do not report these as they stand.',
          )}
          {of.daysLost > 0 && (
            <>
              <br />
              <span class="stripes lost" aria-hidden="true" />{' '}
              {t(
                'Red: {days:a day is|# days are} lost for ever. The platform had forgotten {days:it|them} before {days:it was|they were} read whole.',
                { days: of.daysLost },
              )}
            </>
          )}
        </p>
      )}
      <div class="tiles">
        <Tile name={words.lists.orders} value={sum(orders, (row) => row.orders)} />
        <Tile name={t('Spent, in currency units')} value={sum(orders, (row) => row.spentUnits)} />
        {made.length > 0 && (
          <Tile name={t('Classes made')} value={sum(made, (row) => row.classes)} />
        )}
      </div>
    </>
  );
}

function Classes(props: Part & { made: readonly NftClassFigures[]; growth: readonly NftGrowth[] }) {
  const { view, range, made, growth } = props;
  const { t } = view;
  if (made.length === 0) return null;
  const periods = axisOf(
    made,
    growth.map(({ period }) => period),
  );
  const [of, ofGrowth] = [sumsOf(periods, made), sumsOf(periods, growth)];
  const column = (label: string, values: string[]): Series => ({ label, colour: null, values });
  const unknown = (values: string[]) => ({ ...column(t('count unknown'), values), isRare: true });
  const isWhole = made.every((row) => row.daysAccounted === 0 || row.isWholeList);
  const nfts = of((row) => row.nfts);
  const transfers = ofGrowth((row) => row.transfers);
  const figure = { view, range, periods };
  return (
    <>
      <Figure
        id="classes"
        title={t('Classes made')}
        note={isWhole ? '' : t('Only some owners’ classes are archived.')}
        series={[
          { label: t('Classes'), colour: 'accent', values: of((row) => row.classes) },
          column(t('NFTs'), nfts),
          unknown(of((row) => row.classesWithoutCount)),
        ]}
        list="nft_classes"
        statistics="nft_classes"
        {...figure}
      />
      <Figure
        id="growth"
        title={t('NFTs minted and burnt')}
        note={t(
          'By when it was first seen. A class is looked at while its month can be read; what it held when it was first seen is in no growth.',
        )}
        series={[
          { label: t('minted'), colour: 'held', values: ofGrowth((row) => row.nftsMinted) },
          { label: t('burnt'), colour: 'bad', values: ofGrowth((row) => row.nftsBurnt) },
          column(t('transfers'), transfers),
          unknown(ofGrowth((row) => row.countsUnread)),
        ]}
        isStacked={false}
        statistics="nft_growth"
        {...figure}
      />
    </>
  );
}

type Spending = { accounts: readonly AccountSpending[] | null; orders: readonly OrderFigures[] };

function Accounts({ view, range, accounts, orders }: Part & Spending) {
  const { t, words } = view;
  const { from, to, zone } = range;
  const days = zone === utc ? { from, to } : {};
  const isSafe = isHeld(together(axisOf(orders)));
  return (
    <section aria-labelledby="accounts">
      <h2 id="accounts">{t('Accounts that spent most')}</h2>
      {accounts === null ? (
        <p>
          {t('So many orders take a while to add up by account.')}
          {view.words.between}
          <a href={linkTo(view, '/figures', { ...range, accounts: 'yes' })}>{t('Add them up')}</a>
        </p>
      ) : (
        <>
          {!isSafe && <p class="soft">{t('Of some of these days not all is held.')}</p>}
          <Ranking
            caption={t('Accounts that spent most')}
            heads={[
              words.fields['account'],
              t('Spent, in currency units'),
              words.terms.succeeded,
              words.lists.orders,
            ]}
            rows={accounts.map((one) => [one.account, one.spentUnits, one.succeeded, one.orders])}
            nobody={t('no account shown')}
            hrefOf={(account) => linkTo(view, '/orders', { account, ...days })}
          />
        </>
      )}
    </section>
  );
}

function Owners({ view, owners }: { view: View; owners: readonly NftOwner[] }) {
  const { t, words } = view;
  if (owners.length === 0) return null;
  return (
    <section aria-labelledby="owners">
      <h2 id="owners">{t('Owners with the most classes')}</h2>
      <p class="soft">{t('As they own them now, whatever the days.')}</p>
      <Ranking
        caption={t('Owners with the most classes')}
        heads={[words.fields['owner'], t('Classes'), t('NFTs')]}
        rows={owners.map(({ owner, classes, nfts }) => [owner, classes, nfts])}
        nobody={t('no owner shown')}
        hrefOf={(owner) => linkTo(view, '/nft_classes', { owner })}
      />
    </section>
  );
}

type Ranked = readonly [name: string | null, ...values: (number | string)[]];

/** Figures by whose they are, each name with the way to its records; some are nobody's. */
function Ranking(props: {
  caption: string;
  heads: readonly (string | undefined)[];
  rows: readonly Ranked[];
  nobody: string;
  hrefOf: (name: string) => string;
}) {
  const { caption, heads, rows, nobody, hrefOf } = props;
  const nameOf = ([name]: Ranked) =>
    name === null ? (
      nobody
    ) : (
      <a class="id" href={hrefOf(name)}>
        <Cut text={name} />
      </a>
    );
  const columns = heads.map((head = '', i): TableColumn<Ranked> =>
    i === 0
      ? { head, isName: true, cell: nameOf }
      : { head, class: 'n', cell: (row) => grouped(String(row[i])) },
  );
  return <Table caption={caption} columns={columns} rows={rows} isNarrow />;
}
