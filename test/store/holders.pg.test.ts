// Who writes a project (P8): one at a time, fenced by the epoch, and taken over from whoever has ended or frozen.
import type { Socket } from 'node:net';
import pg from 'pg';
import { beforeEach, expect, test } from 'vitest';
import { databaseError } from '../../src/store/db-errors.ts';
import { withTx, type Db } from '../../src/store/db.ts';
import { renewProjects, releaseProject, takeProject } from '../../src/store/holders.ts';
import { fileOnDatabase } from '../support/opened.ts';
import { type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let db: Db;
fileOnDatabase((given) => ({ database, db } = given));
let projectId = '';
let projects = 0;
beforeEach(() => (projectId = `p${++projects}`));

const leaseMs = 60_000;
const named = (name: string) => ({ holder: name, process: `${name} process` });
const take = (name: string, hasEnded = false, ms = leaseMs) =>
  takeProject(db, projectId, named(name), ms, () => hasEnded);
const write = (epoch: number) =>
  withTx(db.asHolder(projectId, epoch), (tx) =>
    tx.query(`insert into sync.rate (project_id, per_second) values ($1, 1)`, [projectId]),
  );
const written = async (): Promise<number> =>
  (await db.query('select from sync.rate where project_id = $1', [projectId])).rows.length;

test('one at a time has a project, and the others are told who and since when', async () => {
  const all = await Promise.all(['a', 'b', 'c', 'd'].map((name) => take(name)));
  expect(all.filter((one) => 'epoch' in one)).toEqual([{ epoch: 1 }]);
  const { rows } = await db.query<{ holder: string }>(
    'select holder from sync.holders where project_id = $1',
    [projectId],
  );
  expect(await take('e')).toMatchObject({
    holder: rows[0]?.holder,
    heldSince: expect.stringMatching(/^2/) as string,
  });
});

test('it is free when it is given back, when its holder has ended, when its lease is over, and after a clock was set back', async () => {
  await take('a');
  expect(await take('b', true)).toEqual({ epoch: 2 });
  // What another holds is not given back.
  await releaseProject(db, 'a process', projectId);
  expect(await take('c')).toMatchObject({ holder: 'b' });
  await releaseProject(db, 'b process', projectId);
  expect(await take('c')).toEqual({ epoch: 3 });
  // Of hours, as after the database's clock was set back.
  for (const by of ["- interval '1 second'", "+ interval '5 hours'"]) {
    await db.query(`update sync.holders set held_until = statement_timestamp() ${by}`);
    expect(await take('d')).toHaveProperty('epoch');
  }
  expect(await renewProjects(db, 'd process', [projectId], leaseMs)).toEqual([projectId]);
  expect(await renewProjects(db, 'c process', [projectId], leaseMs)).toEqual([]);
});

test('a hold that is renewed minutes after its lease ran out begins anew, else it goes on', async () => {
  await take('a');
  const heldFor = async (until: string): Promise<number | undefined> => {
    await db.query(
      `update sync.holders
          set held_since = statement_timestamp() - interval '1 day', held_until = statement_timestamp() + $2::interval
        where project_id = $1`,
      [projectId, until],
    );
    await renewProjects(db, 'a process', [projectId], leaseMs);
    const { rows } = await db.query<{ days: number }>(
      `select round(extract(epoch from statement_timestamp() - held_since) / 86400)::int as days
         from sync.holders where project_id = $1`,
      [projectId],
    );
    return rows[0]?.days;
  };
  expect(await heldFor('6 minutes ago')).toBe(0);
  expect(await heldFor('4 minutes ago')).toBe(1);
  expect(await heldFor('1 minute')).toBe(1);
});

test('whoever took it under an older epoch writes nothing; sabotaged, under the new one it would', async () => {
  await take('a');
  await take('b', true);
  const refused = await write(1).catch((error: unknown) => databaseError(error));
  expect(refused).toMatchObject({ kind: 'transient', code: 'lease_lost' });
  expect(await written()).toBe(0);
  await write(2);
  expect(await written()).toBe(1);
});

test('a statement by itself only reads', async () => {
  await take('a');
  const held = db.asHolder(projectId, 1);
  expect((await held.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await expect(held.query('delete from sync.rate')).rejects.toMatchObject({ code: '25006' });
});

test('nobody takes it from under a transaction that writes; it is renewed all the same', async () => {
  await take('a');
  await withTx(db.asHolder(projectId, 1), async (tx) => {
    expect(await take('b', true)).toMatchObject({ holder: 'a' });
    expect(await renewProjects(db, 'a process', [projectId], leaseMs)).toEqual([projectId]);
    await tx.query(`insert into sync.rate (project_id, per_second) values ($1, 1)`, [projectId]);
  });
  expect(await take('b', true)).toEqual({ epoch: 2 });
  expect(await written()).toBe(1);
});

test.each([
  // Begun, and never a row sent: what a stopped process looks like to Postgres.
  ['a COPY', (wire: Wire) => wire.query('copy archive.orders from stdin')],
  // Longer than what the network holds: its values are under way.
  [
    'a statement',
    (wire: Wire) => {
      wire.parse({ text: 'select $1::text' });
      wire.stream.write(Buffer.from([0x42, 0, 1, 0, 0, 0]));
    },
  ],
  [
    'a transaction without time-outs',
    (wire: Wire) => wire.query('set local idle_in_transaction_session_timeout = 0'),
  ],
])('a session frozen in the middle of %s is ended after a lease', async (_, freezeIn) => {
  await take('a');
  const frozen = new pg.Client({
    connectionString: database.connectionString,
    application_name: 'outlast',
  });
  frozen.on('error', () => undefined);
  await frozen.connect();
  await frozen.query('begin');
  await frozen.query(`select sync.write_as_holder($1, 1)`, [projectId]);
  const wire = (frozen as unknown as { connection: Wire }).connection;
  // Not waited for: a busy machine is not to be as slow as a frozen session.
  wire.query(
    `set local statement_timeout = '500ms'; set local idle_in_transaction_session_timeout = '500ms'`,
  );
  freezeIn(wire);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  // Sabotaged: a time-out alone does not reach it, nor does a lease not yet over.
  expect(await take('b', true)).toMatchObject({ holder: 'a' });
  await expect.poll(() => take('b', true, 1_000)).toEqual({ epoch: 2 });
  await frozen.end().catch(() => undefined);
});

/** What pg sends its messages by. */
type Wire = {
  query(sql: string): void;
  parse(statement: { text: string }): void;
  stream: Socket;
};
