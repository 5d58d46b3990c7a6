// The simulated world: a function of seed and time, and exactly what a test says where it says so.
import { afterEach, expect, test } from 'vitest';
import {
  createSimulator,
  type Simulator,
  type SimulatorOptions,
} from '../../src/simulator/simulator-server.ts';
import { practiceClient } from '../support/practice-client.ts';

const startAt = Date.parse('2026-03-18T09:30:00Z');
const hourMs = 3_600_000;

let simulator: Simulator;
afterEach(() => simulator.close());

async function start(options: SimulatorOptions = {}): Promise<ReturnType<typeof practiceClient>> {
  simulator = await createSimulator({ startAt, speed: 0, ...options });
  return practiceClient(simulator);
}

const shown = (resource: 'orders' | 'nft_classes') => [...simulator.oracle.shown(resource)];

test('two simulators of one seed and instant answer byte for byte alike, whatever was asked before', async () => {
  const answers = async (warmUp: boolean): Promise<string[]> => {
    const client = await start({ seed: 7, startAt: startAt - (warmUp ? 50 * hourMs : 0) });
    if (warmUp) {
      await client.allOrders({ limit: '50' });
      simulator.setNow(startAt);
    }
    const texts: string[] = [];
    for (const query of [
      { limit: '50' },
      { status: '1' },
      { sort_by: 'DATE_ASC', count_total: '1' },
    ]) {
      texts.push((await client.get('/v3/orders', query)).text);
    }
    texts.push((await client.get('/v1beta1/nft/classes', { limit: '200' })).text);
    texts.push((await client.get('/token/tokens')).text);
    const id = simulator.oracle.operationIds('2026-03-16')[3];
    texts.push((await client.get(`/v1beta1/tx/${id}`)).text);
    await simulator.close();
    return texts;
  };
  const first = await answers(false);
  expect(await answers(true)).toEqual(first);
  expect(await answers(false)).toEqual(first);
});

test('an order is pending until update_time, then succeeded or failed; classes change hands while their timestamp stays', async () => {
  await start({ world: { ordersPerDay: 40, pendingShare: 0.3 } });
  const records = (resource: 'orders' | 'nft_classes') =>
    new Map(
      shown(resource).map(({ id, text }) => [id, JSON.parse(text) as Record<string, string>]),
    );
  const [orders, classes] = [records('orders'), records('nft_classes')];
  simulator.advance(10 * 24 * hourMs);
  const settled = records('orders');
  const seen = new Set<string>();
  for (const [id, was] of orders) {
    const is = settled.get(id);
    seen.add(`${was['status']}${is?.['status']}`);
    if (Number(was['status']) === 1) expect(was['update_time']).toBe(was['create_time']);
    else expect(is).toEqual(was);
    expect(is?.['message'] !== '').toBe(Number(is?.['status']) === 3);
  }
  expect([...seen].toSorted()).toEqual(['11', '12', '13', '22', '33']);
  const later = records('nft_classes');
  let handedOn = 0;
  for (const [id, was] of classes) {
    const is = later.get(id);
    expect(is?.['timestamp']).toBe(was['timestamp']);
    expect(Number(is?.['nft_count'])).toBeGreaterThanOrEqual(Number(was['nft_count']));
    if (is?.['owner'] !== was['owner']) handedOn++;
  }
  expect(handedOn).toBeGreaterThan(20);
});

test('classes are found by id, name, owner and tx_hash', async () => {
  const client = await start({ world: { classesPerDay: 10 } });
  for (const { id, text } of shown('nft_classes').slice(0, 12)) {
    const one = JSON.parse(text) as Record<string, string>;
    expect((await client.classes({ id })).classes).toEqual([one]);
    expect((await client.classes({ tx_hash: one['tx_hash'] ?? '' })).classes).toEqual([one]);
    const part = (one['name'] ?? '').slice(1, 4);
    const named = await client.allClasses({ name: part, owner: one['owner'] ?? '', limit: '200' });
    expect(named).toContain(id);
  }
  expect((await client.classes({ id: 'cls-zzz-1' })).total_count).toBe(0);
  expect((await client.classes({ id: 'no such id' })).total_count).toBe(0);
});

test('records are sent exactly as they were written out, JSON or not, and there are no others', async () => {
  const at = Date.parse('2026-03-10T10:00:00Z');
  const texts = [
    '{"operation_id":"huge","amount":1e400,"number":-0.000,"create_time":"2026-03-10T10:00:01Z"}',
    '{"operation_id":"nul \\u0000 \\ud800","create_time":"2026-03-10T10:00:02Z"}',
    '{"no":"id"}',
    '{"operation_id":"twice","create_time":"2026-03-10T10:00:03Z"}',
    '{"operation_id":"twice","create_time":"2026-03-10T10:00:03Z","status":1}',
    `{"operation_id":"long","message":"${'数'.repeat(1_700_000)}","create_time":"2026-03-10T10:00:04Z"}`,
    'null',
    '{ not JSON',
  ];
  const orders = texts.map((text, i) => ({ text, at: at + i * 1000 }));
  const client = await start({ records: { orders } });
  const query = { sort_by: 'DATE_ASC', limit: '50', count_total: '1' };
  const { text } = await client.get('/v3/orders', query);
  expect(text.endsWith(`"total_count":8,"order_infos":[${texts.join(',')}]}}`)).toBe(true);
  expect(shown('orders').map((one) => one.text)).toEqual(texts);
});

test('records can be hidden, added late and changed while the world goes on', async () => {
  const client = await start({ world: { ordersPerDay: 5, pendingShare: 1 } });
  const first = shown('orders')[4]?.id ?? '';
  const total = async () => (await client.orders({ count_total: '1' })).total_count ?? 0;
  const before = await total();
  expect(simulator.hide('orders', first)).toBe(true);
  expect(simulator.hide('orders', first)).toBe(false);
  expect(await total()).toBe(before - 1);
  expect(await client.allOrders({ limit: '50' })).not.toContain(first);
  simulator.insert(
    'orders',
    '{"operation_id":"late","status":1,"create_time":"2026-02-03T04:05:06Z"}',
  );
  expect(await client.allOrders({ start_date: '2026-02-03', end_date: '2026-02-03' })).toContain(
    'late',
  );
  const changed = simulator.mutate('orders', 'late', (order) => ({
    ...order,
    status: 3,
    message: 'no',
  }));
  expect(changed).toBe(true);
  const failed = await client.allOrders({ status: '3', limit: '50' });
  expect(failed).toContain('late');
  expect(await client.allOrders({ status: '1', limit: '50' })).not.toContain('late');
  simulator.mutate('orders', 'late', () => '{"operation_id":"late","status":9e99}');
  expect(shown('orders').find(({ id }) => id === 'late')?.text).toBe(
    '{"operation_id":"late","status":9e99}',
  );
});

test('transactions are unprocessed, processing and done, in both shapes, and vanish with their month', async () => {
  const client = await start();
  const [id = ''] = simulator.oracle.operationIds('2026-03-17');
  const look = async (path = '/v1beta1/tx/') => {
    const { status, text } = await client.get(path + id);
    return status === 200 ? (JSON.parse(text) as { data: Record<string, unknown> }).data : status;
  };
  const done = (await look()) as { timestamp: string };
  expect(done).toMatchObject({ type: expect.any(String), block_height: expect.any(Number) });
  expect(await look('/v3/native/tx/')).toMatchObject({
    module: expect.any(Number),
    operation: expect.any(Number),
    block_height: expect.stringMatching(/^\d+$/),
  });
  // On chain half a minute after it was asked for.
  const askedAt = Date.parse(done.timestamp) - 30_000;
  simulator.setNow(askedAt - 1);
  expect(await look()).toBe(404);
  simulator.setNow(askedAt);
  expect(await look()).toMatchObject({ status: 3, tx_hash: '', block_height: 0, timestamp: '' });
  simulator.setNow(askedAt + 5_000);
  expect(await look()).toMatchObject({ status: 0 });
  simulator.setNow(Date.parse('2026-05-01T00:00:00Z'));
  expect(await look()).toBe(404);
});

test('tokens leave zero values out; an owner without any gets null', async () => {
  const client = await start();
  const resultOf = async (path: string, query = {}): Promise<unknown> => {
    const { text } = await client.get(path, query);
    return (JSON.parse(text) as { result: unknown }).result;
  };
  const tokens = (await resultOf('/token/tokens')) as { value: Record<string, unknown> }[];
  expect(tokens).toHaveLength(6);
  for (const { value } of tokens) expect(Object.values(value)).not.toContain(false);
  expect(tokens.some(({ value }) => !('mintable' in value))).toBe(true);
  const owner = String(tokens[0]?.value['owner']);
  expect(await resultOf('/token/tokens', { owner })).toContainEqual(tokens[0]);
  expect(await resultOf('/token/tokens', { owner: 'nobody' })).toBeNull();
  expect(await resultOf('/token/tokens/credita')).toEqual(tokens[0]);
  expect(await resultOf('/token/tokens/none/fee')).toHaveProperty('issue_fee');
  const none = await client.get('/token/tokens/none');
  expect(none.text).toBe('{"error":"token none does not exist"}');
});

test('the clock can start elsewhere, run faster, stand still and be moved', async () => {
  let real = 1_000_000;
  simulator = await createSimulator({ now: () => real, startAt, speed: 60 });
  expect(simulator.clock.now()).toBe(startAt);
  real += 1000;
  expect(simulator.clock.now()).toBe(startAt + 60_000);
  simulator.clock.setSpeed(0);
  real += 1000;
  expect(simulator.clock.now()).toBe(startAt + 60_000);
  simulator.advance(5);
  expect(simulator.clock.now()).toBe(startAt + 60_005);
  simulator.setNow(startAt);
  expect(simulator.clock.now()).toBe(startAt);
  await simulator.close();
  simulator = await createSimulator({ now: () => real });
  real += 1;
  expect(simulator.clock.now()).toBe(real);
});
