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
  const { words, archive, project } = view;
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
    title: words.figures.title,
    twin: linkTo(view, '/archive/v1/statistics/orders', { ...bounds, by, group_by: 'order_type' }),
    isLocal: zone !== utc,
    body: (
      <>
        <h1>{words.figures.title}</h1>
        <Form view={view} range={range} />
        {zone !== utc && <p class="soft">{words.figures.zoneNote(zone)}</p>}
        {isEmpty ? (
          <p class="lead">{words.figures.nothing}</p>
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
  const end = addDays(todayIn(zone, now), 1);
  // Days to come would count as days that are not held. What is no day is refused by the library, in words.
  const isOpen = given.to === '' || (isDay(given.to) && given.to > end);
  const to = isOpen && given.from < end ? end : given.to;
  const from = isUnbounded ? addDays(to, -lastDays) : given.from;
  return { by: by as By, from, to, zone };
}

/** A name that is no zone's is refused by the library, in words. */
const todayIn = (zone: string, now: Instant): Day =>
  isZone(zone) ? new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(now) : dayOf(now);

function Form({ view, range: { by, from, to, zone } }: { view: View; range: FigureRange }) {
  const { words } = view;
  const { figures } = words;
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
          <label for="by">{figures.by}</label>
          <select id="by" name="by">
            {Object.entries({ day: figures.byDay, month: figures.byMonth }).map(([one, word]) => (
              <option value={one} selected={one === by}>
                {word}
              </option>
            ))}
          </select>
        </div>
        <div>
          <label for="zone">{figures.zone}</label>
          <select id="zone" name="zone">
            {[...new Set([...zones, zone])].map((one) => (
              <option value={one} selected={one === zone}>
                {one}
              </option>
            ))}
          </select>
        </div>
        <button>{words.choose}</button>
      </form>
      <p class="pages">
        <a href={linkTo(view, '/figures', inZone)}>{figures.lastDays}</a>
        <a href={linkTo(view, '/figures', { ...inZone, by: 'month' })}>{figures.allMonths}</a>
      </p>
    </>
  );
}

type Part = { view: View; range: FigureRange };

function Orders({ view, range, orders }: Part & { orders: readonly OrderFigures[] }) {
  const { words } = view;
  const { figures } = words;
  const periods = axisOf(orders);
  const of = sumsOf(periods, orders);
  const amounts: Series[] = [
    { label: figures.spent, colour: 'accent', values: of((row) => row.spentUnits) },
    { label: words.terms.pending, colour: 'open', values: of((row) => row.pendingUnits) },
    {
      label: figures.unknownPrice,
      colour: null,
      values: of((row) => row.amountUnknown),
      isRare: true,
    },
  ];
  const types = [...new Set(orders.filter((row) => row.orders > 0).map((row) => row.orderType))];
  const byType = types.map((type, i) => ({
    label:
      type === null || type === undefined
        ? words.unknown
        : (words.terms[typeNames[type] ?? ''] ?? figures.type(String(type))),
    colour: colours[i % colours.length] ?? 'open',
    values: of((row) => (row.orderType === type ? row.orders : 0)),
  }));
  const figure = { view, range, periods, list: 'orders', statistics: 'orders' };
  return (
    <>
      <Figure id="orders" title={figures.orders} series={outcomes(view, of)} {...figure} />
      <Figure id="amounts" title={figures.amounts} series={amounts} {...figure} />
      <Figure id="types" title={figures.types} series={byType} groupBy="order_type" {...figure} />
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
  const { words, format } = view;
  const of = together(axisOf(orders));
  const sum = <Row,>(rows: readonly Row[], of: (row: Row) => number | string): string =>
    grouped(sumOf(rows.map(of)));
  return (
    <>
      <p class="lead">
        {words.figures.heldDays(
          format.number(of.daysHeld),
          format.number(of.daysSettled),
          format.number(of.days),
        )}
      </p>
      {!isHeld(of) && (
        <p class="notice mild">
          <span class="stripes" aria-hidden="true" />{' '}
          {words.figures.incompleteNote(range.zone !== utc)}
          {of.daysLost > 0 && (
            <>
              <br />
              <span class="stripes lost" aria-hidden="true" />{' '}
              {words.figures.lostNote(format.number(of.daysLost))}
            </>
          )}
        </p>
      )}
      <div class="tiles">
        <Tile name={words.lists.orders} value={sum(orders, (row) => row.orders)} />
        <Tile name={words.figures.amounts} value={sum(orders, (row) => row.spentUnits)} />
        {made.length > 0 && (
          <Tile name={words.figures.classes} value={sum(made, (row) => row.classes)} />
        )}
      </div>
    </>
  );
}

function Classes(props: Part & { made: readonly NftClassFigures[]; growth: readonly NftGrowth[] }) {
  const { view, range, made, growth } = props;
  const { figures } = view.words;
  if (made.length === 0) return null;
  const periods = axisOf(
    made,
    growth.map(({ period }) => period),
  );
  const [of, ofGrowth] = [sumsOf(periods, made), sumsOf(periods, growth)];
  const column = (label: string, values: string[]): Series => ({ label, colour: null, values });
  const unknown = (values: string[]) => ({ ...column(figures.unknownCount, values), isRare: true });
  const isWhole = made.every((row) => row.daysAccounted === 0 || row.isWholeList);
  const nfts = of((row) => row.nfts);
  const transfers = ofGrowth((row) => row.transfers);
  const figure = { view, range, periods };
  return (
    <>
      <Figure
        id="classes"
        title={figures.classes}
        note={isWhole ? '' : figures.someOwners}
        series={[
          { label: figures.classesOf, colour: 'accent', values: of((row) => row.classes) },
          column(figures.nfts, nfts),
          unknown(of((row) => row.countsUnread)),
        ]}
        list="nft_classes"
        statistics="nft_classes"
        {...figure}
      />
      <Figure
        id="growth"
        title={figures.growth}
        note={figures.growthNote}
        series={[
          { label: figures.minted, colour: 'held', values: ofGrowth((row) => row.nftsMinted) },
          { label: figures.burnt, colour: 'bad', values: ofGrowth((row) => row.nftsBurnt) },
          column(figures.transfers, transfers),
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
  const { words } = view;
  const { figures } = words;
  const { from, to, zone } = range;
  const days = zone === utc ? { from, to } : {};
  const isSafe = isHeld(together(axisOf(orders)));
  return (
    <section aria-labelledby="accounts">
      <h2 id="accounts">{figures.accounts}</h2>
      {accounts === null ? (
        <p>
          {figures.many}
          {view.words.between}
          <a href={linkTo(view, '/figures', { ...range, accounts: 'yes' })}>{figures.addUp}</a>
        </p>
      ) : (
        <>
          {!isSafe && <p class="soft">{figures.incompleteDays}</p>}
          <Ranking
            caption={figures.accounts}
            heads={[
              words.fields['account'],
              figures.amounts,
              words.terms.succeeded,
              words.lists.orders,
            ]}
            rows={accounts.map((one) => [one.account, one.spentUnits, one.succeeded, one.orders])}
            nobody={figures.noAccount}
            hrefOf={(account) => linkTo(view, '/orders', { account, ...days })}
          />
        </>
      )}
    </section>
  );
}

function Owners({ view, owners }: { view: View; owners: readonly NftOwner[] }) {
  const { words } = view;
  const { figures } = words;
  if (owners.length === 0) return null;
  return (
    <section aria-labelledby="owners">
      <h2 id="owners">{figures.owners}</h2>
      <p class="soft">{figures.ownersNote}</p>
      <Ranking
        caption={figures.owners}
        heads={[words.fields['owner'], figures.classesOf, figures.nfts]}
        rows={owners.map(({ owner, classes, nfts }) => [owner, classes, nfts])}
        nobody={figures.noOwner}
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
