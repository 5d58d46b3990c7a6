// The examples of docs/library.md, compiled as they stand there; a test keeps the two alike and runs them.
import { isOutlastError, openArchive } from '../../src/index.ts';
import type {
  Archive,
  ListPage,
  NftClass,
  Order,
  Page,
  Summary,
  Transaction,
} from '../../src/index.ts';

export async function opening(): Promise<Archive> {
  const archive = await openArchive({ connectionString: process.env.DATABASE_URL ?? '' });
  return archive;
}

export async function streaming(archive: Archive, project: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const order of archive.orders.stream({
    project,
    from: '2026-03-01',
    to: '2026-04-01',
  })) {
    lines.push(`${order.operationId},${order.createdAt ?? ''},${order.amount ?? ''}`);
  }
  return lines;
}

export async function paging(
  archive: Archive,
  project: string,
): Promise<[ListPage<Order>, ListPage<Order> | null]> {
  const page = await archive.orders.list({ project, status: [1, 3], order: 'desc', limit: 50 });
  const more =
    page.next === null
      ? null
      : await archive.orders.list({ project, status: [1, 3], order: 'desc', cursor: page.next });
  return [page, more];
}

export async function one(archive: Archive, project: string): Promise<bigint | null> {
  const order = await archive.orders.get(project, 'op_0001');
  const fee = order === null ? null : BigInt(order.amount ?? '0');
  return fee;
}

export async function changed(
  archive: Archive,
  project: string,
  kept: string | null,
): Promise<string[]> {
  const since = await archive.changes.list({ project, ...(kept === null ? {} : { after: kept }) });
  const happened = since.items.map(({ change, id }) => `${change} ${id}`);
  return happened;
}

export async function classesOf(
  archive: Archive,
  project: string,
  owner: string,
): Promise<NftClass[]> {
  const classes = await archive.nftClasses.list({ project, owner, name: 'cat' });
  return classes.items;
}

export async function named(archive: Archive, project: string): Promise<Page<Transaction>> {
  const [v1beta1, v3] = await archive.transactions.get(project, 'op_0001');
  const failed = await archive.transactions.list({ project, status: 2, module: 'nft' });
  const { items: tokens } = await archive.tokens.list({ project });
  if (v1beta1 === undefined && v3 === undefined && tokens.length > 0) return failed;
  return failed;
}

export async function books(archive: Archive, project: string): Promise<string[]> {
  const lost = await archive.watchedOperations({ project, state: 'lost' });
  const [newest] = (await archive.runs({ project, limit: 1 })).items;
  const months = await archive.certificates({ project, resource: 'orders' });
  const rejects = await archive.rejects({ project, from: '2026-03-01' });
  const [pageSize] = await archive.facts({ project, fact: 'orders.limit' });
  return [lost, newest, months, rejects, pageSize].map((one) => typeof one);
}

export async function oneDay(archive: Archive, project: string): Promise<string[]> {
  const day = await archive.day({ project, resource: 'orders', day: '2026-03-14' });
  const now = await archive.progress({ project });
  const alerts = await archive.alerts({ project });
  const newest = await archive.recent({ project, resource: 'orders', limit: 10 });
  return [day, now, alerts, newest].map((one) => typeof one);
}

export async function report(archive: Archive, project: string): Promise<string[]> {
  const march = await archive.statistics.orders({
    project,
    from: '2026-03-01',
    to: '2026-04-01',
    by: 'month',
    groupBy: ['account'],
  });
  const lines = march.map(
    (row) => `${row.account}: ${row.spentUnits}${row.isSettled ? '' : ' (may still change)'}`,
  );
  return lines;
}

export async function earlier(
  archive: Archive,
  project: string,
): Promise<{ changes: string[]; monthEnd: ListPage<Order> }> {
  const versions = await archive.orders.history(project, 'op_0001');
  const changes = versions.map(
    ({ inForceFrom, item }) => `${inForceFrom ?? 'never'}: ${item.status ?? 'unread'}`,
  );
  const monthEnd = await archive.orders.list({
    project,
    asOf: '2026-03-31T23:59:59+08:00',
    status: 1,
  });
  return { changes, monthEnd };
}

export async function certainty(
  archive: Archive,
  project: string,
): Promise<{ uncertain: string[]; summary: Summary[] }> {
  const uncertain = (await archive.coverage({ project, resource: 'orders' })).filter(
    (day) => !day.isHeld,
  );
  const summary = await archive.summary({ project });
  return { uncertain: uncertain.map((day) => day.day), summary };
}

export async function failing(archive: Archive, project: string): Promise<void> {
  try {
    await archive.orders.list({ project, cursor: 'from somewhere else' });
  } catch (error) {
    if (!isOutlastError(error, 'cursor_invalid')) throw error;
  }
}
