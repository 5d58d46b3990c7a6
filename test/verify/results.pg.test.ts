// Final results asked for once more: what was forged with all its digests is told by the platform, fresh links are no
// news, and where the month may be gone nothing is concluded.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lookUpResults, type ResultAskedAgain } from '../../src/sync/ask-proved-days-again.ts';
import { leaveOut } from '../support/few-days.ts';
import { createUnlisted, type Unlisted } from '../support/unlisted.ts';

let archive: Unlisted;
beforeAll(async () => {
  archive = await createUnlisted();
});
afterAll(() => archive.close());

async function asked(): Promise<ResultAskedAgain[]> {
  const found: ResultAskedAgain[] = [];
  const { signal } = new AbortController();
  const isAnswered = await lookUpResults(
    { ...archive.worker, signal },
    (result) => void found.push(result),
  );
  expect(isAnswered).toBe(true);
  return found;
}

const told = (all: ResultAskedAgain[], outcome: string): string[] =>
  all
    .filter((one) => one.outcome === outcome)
    .map(({ apiVersion, operationId, says }) => `${apiVersion} ${operationId}: ${says}`);

const forge = (change: string, where: string): Promise<unknown> =>
  archive.owner.query(
    `update archive.transactions t set ${change}, raw_sha256 = sha256(raw::text::bytea) where ${where}`,
  );

test('all of them agree, however odd, and nothing is written', async () => {
  const written = async (): Promise<unknown[]> =>
    (await archive.db.query('select t::text, xmin from archive.transactions t order by 1')).rows;
  const before = await written();
  const all = await asked();
  expect(all).toHaveLength(14);
  expect(told(all, 'agrees')).toHaveLength(14);
  expect(await written()).toEqual(before);
});

test('P11: a parked project is not asked', async () => {
  await archive.db.query(`update sync.projects set parked_at = now(), parked_reason = 'no'`);
  const requests = archive.simulator.requests.total;
  const { signal } = new AbortController();
  expect(await lookUpResults({ ...archive.worker, signal }, () => undefined)).toBe(false);
  expect(archive.simulator.requests.total).toBe(requests);
  await archive.db.query(`update sync.projects set parked_at = null, parked_reason = null`);
});

test('what was forged, invented or left unread is told by its columns; a fresh link is no news', async () => {
  await forge(
    `raw = raw || '{"tx_hash": "FF", "nft": {"class_id": "other"}}'`,
    `operation_id = 'plain' and api_version = 'v1beta1'`,
  );
  await forge(
    `raw = jsonb_set(raw, '{record,certificate_url}', '"https://localhost/another"')`,
    `operation_id = 'recorded'`,
  );
  await forge(
    `raw = '{"status": 1}', status = 1, operation_id = 'invented'`,
    `operation_id = 'at_the_limit'`,
  );
  await archive.owner.query(
    `insert into sync.watched_operations (project_id, operation_id, state, created_on)
     values ('p', 'invented', 'done', '2026-04-05')`,
  );
  const all = await asked();
  expect(told(all, 'differs')).toEqual([
    'v1beta1 plain: the platform says otherwise now: tx_hash, nft',
    'v3 invented: the platform does not know this operation now',
  ]);
  expect(told(all, 'agrees')).toHaveLength(12);
});

test('from around the cliff on an operation that is not known says nothing, and after it none is asked for', async () => {
  await archive.close();
  archive = await createUnlisted();
  await archive.owner.query(
    `update archive.transactions set operation_id = 'unknown' where operation_id = 'nul'`,
  );
  const cliff = Date.parse('2026-05-31T12:00:00Z');
  archive.simulator.setNow(cliff);
  // No day of a list is of any concern here.
  await leaveOut(archive.worker, cliff, []);
  await archive.runLater(0);
  const late = await asked();
  expect(told(late, 'differs')).toEqual([]);
  expect(told(late, 'unclear')).toEqual(['v3 unknown: ']);
  archive.simulator.setNow(Date.parse('2026-06-02T12:00:00Z'));
  await archive.runLater(0);
  expect(await asked()).toEqual([]);
});
