// An archive with what no list of days shows: results of operations as odd as a platform may give them, tokens that
// changed, went and came back, and the file behind a certificate link. And the means to spoil it.
import { createFileFetcher } from '../../src/platform/certificate-file.ts';
import type { LiteralToken, LiteralTransaction } from '../../src/simulator/simulated-lookups.ts';
import { openDb } from '../../src/store/db.ts';
import { watchOperations } from '../../src/store/operations/watch-operations.ts';
import type { Verifying } from '../../src/verify/verify.ts';
import { createBench, type Bench } from './archive.ts';
import { startHttpsServer } from './certificates.ts';
import { verified } from './verified.ts';

export type Unlisted = Awaited<ReturnType<typeof createUnlisted>>;

const dayMs = 86_400_000;
const final = '"module":"nft","type":"mint_nft","status":1';

/** By operation id, what the lookups say; all of them are final in the end. */
const odd: Record<string, LiteralTransaction> = {
  plain: {
    v1beta1: `{${final},"tx_hash":"AB","message":"","block_height":7,"timestamp":"2026-04-03T10:00:00Z","nft":{"class_id":"c","nft_id":"n"}}`,
    v3: `{"module":1,"operation":3,"status":1,"tx_hash":"AB","message":"","block_height":"7","timestamp":"2026-04-03 10:00:00"}`,
  },
  nul: { v3: `{"module":1,"status":1,"message":"a\\u0000b","nft":{"id":"\\u0000"}}` },
  surrogate: { v1beta1: `{${final},"message":"\\ud800","record":{"\\udfff":"\\ud800x"}}` },
  disagreeing: {
    v1beta1: `{${final},"tx_hash":"AB"}`,
    v3: `{"module":2,"status":2,"tx_hash":"CD","message":"failed"}`,
  },
  beyond_bigint: {
    v3: `{"module":1e3,"status":1,"block_height":9223372036854775808,"operation":2147483648,"nft":{"n":1e999999,"m":1.50e2}}`,
  },
  at_the_limit: { v3: `{"status":2,"block_height":9223372036854775807,"mt":{"n":0.10}}` },
  odd_bodies: { v1beta1: `{"status":"1","nft":[],"mt":"","record":"text","timestamp":"soon"}` },
  repeated: { v1beta1: `{"status":3,"status":1,"nft":{"a":1,"a":2},"nft":{"b":1,"b":{"c":[]}}}` },
  only_a_status: { v1beta1: '{"status":2}' },
};

const value = (symbol: string, more = ''): string =>
  `{"symbol":"${symbol}","name":"N","min_unit":"u${symbol}"${more},"owner":"o"}`;
const fee =
  '{"exist":true,"issue_fee":{"denom":"ugas","amount":"10"},"mint_fee":{"denom":"ugas","amount":"1.50"}}';
const token = (symbol: string, more = ''): LiteralToken => ({
  symbol,
  owner: 'o',
  value: value(symbol, more),
  fee,
});

export type UnlistedSource = Awaited<ReturnType<typeof createUnlistedSource>>;

/** What a simulator shows of all that, and what a worker needs to archive it. */
export async function createUnlistedSource() {
  const server = await startHttpsServer((request, response) => {
    response.writeHead(request.url === '/two' ? 200 : 410).end(`file of ${request.url}`);
  });
  const link = (path: string): string =>
    `{"module":"record","type":"create_record","status":1,"record":{"record_id":"r","certificate_url":"${server.url}${path}"}}`;
  const transactions: Record<string, LiteralTransaction> = {
    ...odd,
    moving: { v1beta1: '{"status":3}', v3: '{"status":3,"operation":3}' },
    // Final, and another the next time: its link is a fresh one.
    recorded: { v1beta1: link('/one') },
  };
  const tokens = [
    token('bb', ',"mintable":true,"scale":6'),
    token('aa'),
    token('odd', ',"max_supply":"18446744073709551616","scale":"many","x":"\\u0000\\ud800"'),
    // Twice in one list, and not alike: both contents are kept.
    token('twice'),
    token('twice', ',"mintable":true'),
    { ...token('rejected'), value: '{"symbol":"","name":"none"}' },
  ];
  const certificateFiles = createFileFetcher({
    hosts: ['localhost'],
    connect: { ca: server.certificate },
    isPrivate: () => false,
  });
  return {
    records: { transactions, tokens },
    worker: { tokensEveryMs: dayMs, certificateFiles },
    /** Watches all operations and lets three days pass, in which results and tokens change. */
    fill: async (bench: Bench): Promise<void> => {
      await bench.run();
      await watchOperations(
        bench.db,
        'p',
        Object.keys(transactions).map((operationId) => ({ operationId, createdOn: '2026-04-03' })),
      );
      await bench.run();
      transactions['moving'] = { v1beta1: '{"status":1}', v3: '{"status":1,"operation":3}' };
      transactions['recorded'] = { v1beta1: link('/two') };
      // One goes, one changes; the next day it is back.
      const [, gone] = tokens.splice(0, 2, token('bb', ',"mintable":true,"scale":7'));
      await bench.runLater(dayMs + 1000);
      if (gone !== undefined) tokens.push(gone);
      await bench.runLater(dayMs + 1000);
      await bench.runLater(dayMs - 2000);
    },
    close: () => server.close(),
  };
}

/** Its clock stands at noon of 9 April. */
export async function createUnlisted() {
  const source = await createUnlistedSource();
  const world = { ordersPerDay: 2, classesPerDay: 1, quietShare: 0 };
  const days = ['2026-03-01', '2026-04-05', '2026-04-06'];
  const bench = await createBench({ world, days, records: source.records }, source.worker);
  const { connectionString, worker } = bench;
  const owner = await openDb({ connectionString, role: null, log: worker.log });
  await source.fill(bench);
  return {
    ...bench,
    /** As a superuser, who can do what the service itself cannot. */
    owner,
    verify: (asked?: Partial<Verifying>) => verified(bench.db, asked),
    close: async (): Promise<void> => {
      await owner.close();
      await bench.close();
      await source.close();
    },
  };
}
