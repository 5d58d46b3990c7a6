// One day with all that is known of it, what goes on now, what somebody should hear of, and what came in: read by the
// library as the reader's role.
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openArchive, type Archive, type Progress } from '../../src/index.ts';
import type { Db } from '../../src/store/db.ts';
import { createBench, fiveDays, type Bench } from '../support/archive.ts';
import { setUp } from '../support/fresh.ts';
import { openEmpty, type Opened } from '../support/opened.ts';
import { enterReject, writeProjects } from '../support/rows.ts';

const hourMs = 3_600_000;

describe('a day', () => {
  const of = { project: 'p', resource: 'orders', day: '2026-04-03' } as const;
  let bench: Bench;
  let archive: Archive;
  setUp(async (keep) => {
    bench = await keep(createBench(fiveDays));
    await bench.seal();
    archive = await keep(openArchive({ connectionString: bench.connectionString }));
  });

  test('is told with all that it rests on', async () => {
    const day = await archive.day(of);
    const { project, resource, day: on } = of;
    const [covered] = await archive.coverage({ project, resource, from: on, to: on });
    const whole = { shown: covered?.shownTotal, lacks: 0, claims: 0 };
    expect(day).toMatchObject(covered ?? {});
    expect(day).toMatchObject({
      owners: [''],
      records: covered?.shownTotal,
      pending: 0,
      readings: {
        count: 2,
        items: ['newest', 'oldest'].map((beginsAt) => ({ beginsAt, ...whole })),
      },
      missing: { count: 0, items: [] },
      changes: { count: 0, items: [] },
      rejects: { count: 0, items: [] },
    });
    const [second, first] = day?.readings.items ?? [];
    const apartMs = Date.parse(second?.beganAt ?? '') - Date.parse(first?.endedAt ?? '');
    expect(apartMs).toBeGreaterThanOrEqual(2 * hourMs);
    const equal = {
      owner: '',
      firstDay: '2026-03-01',
      balance: 'equal',
      more: [],
      moreSince: null,
    };
    expect(await archive.books({ project, resource })).toMatchObject([equal]);
    expect(day?.history.count).toBe(day?.history.items.length);
    // The pages at hand are committed together: on a busy machine they come one by one.
    const entries = day?.history.items.toReversed() ?? [];
    const opened = entries[0];
    const [sealed, read] = entries.toReversed();
    expect(opened).toMatchObject({ kind: 'ledger', state: 'open', proof: 'none' });
    const written = entries.filter(({ kind }) => kind === 'pages');
    expect(written.reduce((sum, { records }) => sum + records, 0)).toBe(day?.records);
    expect(entries.filter(({ kind }) => kind === 'reading')).toHaveLength(2);
    expect(read).toMatchObject({ kind: 'ledger', state: 'walked', proof: 'none' });
    expect(sealed).toMatchObject({
      kind: 'ledger',
      state: 'sealed',
      proof: 'books',
      entry: Math.max(...entries.map(({ entry }) => entry)),
      platformTotal: day?.platformTotal,
      enteredAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    });
  });

  test('tells what changed, vanished, is pending, and was rejected', async () => {
    const { simulator, db } = bench;
    const shown = [...simulator.oracle.shown('orders')].filter(({ text }) =>
      text.includes('2026-04-03T'),
    );
    const [changed, gone] = shown;
    simulator.mutate('orders', changed?.id ?? '', (was) => ({ ...was, message: 'another' }));
    simulator.hide('orders', gone?.id ?? '');
    await bench.runLater(25 * hourMs);
    await db.query(enterReject(of.day));
    await db.query(
      `update archive.orders set status = 1 where operation_id = $1 and slice_day = $2`,
      [shown[2]?.id, of.day],
    );
    const day = await archive.day(of);
    const { rows } = await db.query<{ since: string; replaced: string }>(
      `select (select missing_since from archive.orders where operation_id = $1) as since,
              (select observed_at from archive.order_versions where operation_id = $2) as replaced`,
      [gone?.id, changed?.id],
    );
    expect(day).toMatchObject({
      pending: 1,
      missing: { count: 1, items: [{ id: gone?.id, since: rows[0]?.since }] },
      changes: { count: 1, items: [{ id: changed?.id, observedAt: rows[0]?.replaced }] },
      rejects: {
        count: 1,
        items: [{ sha256: '01', reason: 'no id', seenAt: '2026-04-03T00:00:00Z' }],
      },
    });
    expect(day?.history.items).toHaveLength(day?.history.count ?? 0);
    expect(day?.history.items.map(({ kind }) => kind)).toContain('missing');
  });

  test('that the ledger does not know is null', async () => {
    expect(await archive.day({ ...of, day: '2020-01-01' })).toBeNull();
    expect(await archive.day({ ...of, project: 'q' })).toBeNull();
    expect(await archive.day({ ...of, owner: 'nobody' })).toBeNull();
    // An owner's whole list is no day.
    expect(await archive.day({ ...of, day: '0001-01-01' })).toBeNull();
  });
});

describe('what goes on', () => {
  const project = 'p';
  let opened: Opened;
  let db: Db;
  let archive: Archive;
  const progress = async (): Promise<Progress> => {
    const found = await archive.progress({ project });
    if (found === null) throw new Error('nothing goes on');
    return found;
  };
  setUp(async (keep) => {
    opened = await keep(openEmpty());
    ({ db, archive } = opened);
    await writeProjects(db, ['p', 'q']);
    await db.query(
      `insert into sync.slices (project_id, resource, owner, day, state, due_at, deadline_at, shown_total)
       select id, 'orders', '', '2026-03-01'::date + n, case when n < 2 then 'final' else 'open' end,
              case when n >= 2 then now() + (n - 4.5) * interval '1 hour' end, '2026-04-30T00:00:00Z', 7
         from unnest(array['p', 'q']) id, generate_series(0, 6) n`,
    );
  });

  test('is nothing yet of a project that no run could enter', async () => {
    expect(await archive.progress({ project: 'none' })).toBeNull();
  });

  test('while nothing runs is what is due, and when', async () => {
    const found = await progress();
    const none = { run: null, inHand: [], succeededAt: null, certificate: null, parked: null };
    expect(found).toMatchObject({ projectId: project, ...none, slicesDue: 3, slicesWaiting: 5 });
    expect(Math.abs(Date.parse(found.archiveNow) - Date.now())).toBeLessThan(60_000);
    const inMs = Date.parse(found.nextDueAt ?? '') - Date.parse(found.archiveNow);
    expect(inMs / hourMs).toBeCloseTo(0.5, 1);
  });

  test('while a run goes on is what it has done and has in hand', async () => {
    await db.query(
      `insert into sync.runs (project_id, run_id, started_at, ended_at, outcome)
       values ('p', 'before', '2026-03-01T00:00:00Z', '2026-03-01T00:01:00Z', 'done'),
              ('p', 'idle', '2026-03-02T00:00:00Z', '2026-03-02T00:01:00Z', 'idle'),
              ('p', 'now', now() - interval '4 hours', null, null)`,
    );
    // Of a run that was cut off nobody holds anything any more.
    expect((await progress()).run).toBeNull();
    await db.query(
      `insert into sync.holders (project_id, holder, held_until) values ('p', 'me', now() + interval '1 hour')`,
    );
    await db.query(
      `update sync.slices set observed_at = now(), due_at = now(), walk = 1, checkpoint = '{"next": {"number": 12}}'
        where project_id = 'p' and day = '2026-03-04'`,
    );
    await db.query(
      `update sync.slices set observed_at = now(), walked_at = now()
        where project_id = 'p' and day = '2026-03-05'`,
    );
    const found = await progress();
    expect(found).toMatchObject({
      run: { runId: 'now', slicesDone: 1, recordsShown: 7 },
      inHand: [{ resource: 'orders', owner: '', day: '2026-03-04', pages: 12 }],
      succeededAt: '2026-03-01T00:01:00Z',
      slicesDue: 3,
    });
  });

  test('names the newest certificate, and why the project is parked', async () => {
    await db.query(
      `insert into sync.certificates (project_id, resource, month, certified_at, certificate, digest, leaves_sha256)
       values ('p', 'orders', '2026-01-01', '2026-03-05T10:00:00Z', '{}', '\\xab', '\\xcd'),
              ('p', 'nft_classes', '2026-01-01', '2026-03-06T10:00:00Z', '{}', '\\xac', '\\xcd')`,
    );
    await db.query(
      `update sync.projects set parked_at = '2026-03-07T00:00:00Z', parked_reason = 'no', ask_again_at = '2026-03-07T01:00:00Z'
        where project_id = 'p'`,
    );
    const certified = { certifiedAt: '2026-03-06T10:00:00Z', digest: 'ac' };
    expect(await progress()).toMatchObject({
      certificate: { resource: 'nft_classes', month: '2026-01-01', ...certified },
      parked: { at: '2026-03-07T00:00:00Z', reason: 'no', askAgainAt: '2026-03-07T01:00:00Z' },
    });
  });

  test('its revision stays while nothing changes, and changes with everything that is shown', async () => {
    const changes = [
      `update sync.slices set state = 'walked' where project_id = 'p' and day = '2026-03-07'`,
      `update sync.slices set due_at = null, state = 'final' where project_id = 'p' and day = '2026-03-07'`,
      `insert into sync.alerts (project_id, kind, subject, text, opened_at) values ('p', 'k', '', 'x', now())`,
      `update sync.alerts set told_at = now() where project_id = 'p'`,
      `delete from sync.alerts where project_id = 'p'`,
      `update sync.runs set ended_at = now(), outcome = 'done' where project_id = 'p' and run_id = 'now'`,
      `insert into sync.facts (project_id, fact, value, confirmed_at, changed_at) values ('p', 'f', 'x', now(), now())`,
      `update sync.projects set parked_at = null where project_id = 'p'`,
      `select sync.journal_append('p', 'tokens', '', '0001-01-01', 'contents', '{}', null, null)`,
    ];
    for (const sql of changes) {
      const before = (await progress()).revision;
      await wait(2);
      expect((await progress()).revision).toBe(before);
      await db.query(sql.replaceAll(`'p'`, `'q'`));
      expect((await progress()).revision, `another project: ${sql}`).toBe(before);
      await db.query(sql);
      expect((await progress()).revision, sql).not.toBe(before);
    }
  });

  test('alerts are told the newest first, those that only happened as such', async () => {
    await db.query(
      `insert into sync.alerts (project_id, kind, subject, text, opened_at, told_at, resolved_at)
       values ('p', 'parked', '', 'It is parked.', '2026-03-01T10:00:00Z', '2026-03-01T10:01:00Z', null),
              ('p', 'lost', '2026-01', 'A day is lost.', '2026-03-02T10:00:00Z', null, '2026-03-02T10:00:00Z'),
              ('p', 'late', 'a', 'It was late.', '2026-03-01T09:00:00Z', null, '2026-03-02T11:00:00Z')`,
    );
    const alerts = await archive.alerts({ project });
    expect(alerts.map(({ kind, isNews }) => [kind, isNews])).toEqual([
      ['lost', true],
      ['parked', false],
      ['late', false],
    ]);
    expect(alerts[1]).toMatchObject({ text: 'It is parked.', toldAt: '2026-03-01T10:01:00Z' });
    expect(await archive.alerts({ project: 'none' })).toEqual([]);
  });
});
