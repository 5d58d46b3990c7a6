// What goes on, over HTTP: progress, one day, what came in, and the settings; and progress as it comes
// (Server-Sent Events).
import { mostOfOne } from '../../src/http/v1/events.ts';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { transient } from '../../src/errors.ts';
import type { Served } from '../../src/http/server.ts';
import type { Archive } from '../../src/index.ts';
import { settingsInForce } from '../../src/settings/in-force.ts';
import { fresh, setUp } from '../support/fresh.ts';
import { openEmpty, type Opened } from '../support/opened.ts';
import { writeClass, writeOrder, writeProjects } from '../support/rows.ts';
import { serveArchive, textAt } from '../support/served.ts';
import { bearerKey, bearing } from './ask.ts';

/** As soon as it holds, on however busy a machine. */
const soon = <T>(holds: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(holds, { timeout: 120_000 });

let opened: Opened;
let served: Served;
setUp(async (keep) => {
  opened = await keep(openEmpty());
  const { db } = opened;
  await writeProjects(db, ['p', 'q']);
  await db.query(
    `insert into sync.slices (project_id, resource, owner, day, due_at, deadline_at)
     select 'p', resource, owner, '2026-03-10', now(), '2026-04-30T00:00:00Z'
       from (values ('orders', ''), ('nft_classes', 'a'), ('nft_classes', 'b')) s (resource, owner)`,
  );
  await writeOrder(db, { project: 'p', id: 'first', createdAt: '2026-03-10T10:00:00Z' });
  await writeOrder(db, { project: 'p', id: 'second', createdAt: '2026-03-11T10:00:00Z' });
  await writeClass(db, { project: 'p', id: 'c', name: 'C', owner: 'b' });
  served = await keep(
    serveArchive(opened.archive, {
      projects: [
        { id: 'p', classesOf: 'p' },
        { id: 'q', classesOf: 'p' },
      ],
    }),
  );
});

const ask = (path: string, of = served): Promise<Response> => fetch(`${of.url}/archive/v1${path}`);
const json = async (path: string): Promise<unknown> =>
  JSON.parse(await textAt(`${served.url}/archive/v1${path}`)) as unknown;

test('one day has the tables’ names, and is of the owner who is asked for', async () => {
  expect(await json('/coverage/orders/2026-03-10?project=p')).toMatchObject({
    owner: '',
    owners: [''],
    records: 1,
    newest_page_at: null,
    readings: { count: 0, items: [] },
    history: { count: 0, items: [] },
  });
  // Of the project that archives the classes.
  const first = await json('/coverage/nft_classes/2026-03-10?project=q');
  expect(first).toMatchObject({ project_id: 'p', owner: 'a', owners: ['a', 'b'], records: 0 });
  const second = await json('/coverage/nft_classes/2026-03-10?project=q&owner=b');
  expect(second).toMatchObject({ owner: 'b', records: 1 });
});

test('progress is what the library says', async () => {
  const progress = (await json('/progress?project=p')) as Record<string, unknown>;
  expect(progress).toMatchObject({ project_id: 'p', run: null, in_hand: [], slices_due: 3 });
  const { revision } = (await opened.archive.progress({ project: 'p' })) ?? {};
  expect(progress['revision']).toBe(revision);
});

test('what came in lately goes by day, the newest first', async () => {
  const { items } = (await json('/recent?project=p')) as { items: Record<string, unknown>[] };
  expect(items.map(({ id, day }) => [id, day])).toEqual([
    ['second', '2026-03-11'],
    ['first', '2026-03-10'],
  ]);
  expect(await json('/recent?project=q&resource=nft_classes&limit=1')).toMatchObject({
    items: [{ project_id: 'p', id: 'c', name: 'C', status: null, amount_fen: null }],
  });
});

describe('events', () => {
  const times = { everyMs: 40, aliveMs: 100 };
  type Listening = {
    /** What has come so far, comments included. */
    text(): string;
    /** Its events until now, each with its data. */
    events(): [name: string, data: Record<string, unknown>][];
    leave(): void;
    /** How the answer ended. */
    ended: Promise<'ended' | 'left'>;
  };

  async function listen(of: Served): Promise<Listening> {
    const leaving = new AbortController();
    const answer = await fetch(`${of.url}/archive/v1/events?project=p`, { signal: leaving.signal });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    let text = '';
    const ended = (async () => {
      try {
        const decoder = new TextDecoder();
        for await (const part of answer.body ?? []) text += decoder.decode(part, { stream: true });
        return 'ended';
      } catch {
        return 'left';
      }
    })();
    const events = (): ReturnType<Listening['events']> =>
      [...text.matchAll(/^event: (\w+)\ndata: (.*)\n\n/gm)].map(([, name = '', data = '']) => [
        name,
        JSON.parse(data) as Record<string, unknown>,
      ]);
    return { text: () => text, events, leave: () => leaving.abort(), ended };
  }

  /** An archive that counts how often it is looked at, and of which nothing can be read at times. */
  async function counted(aliveMs = times.aliveMs): Promise<{
    of: Served;
    looks: () => number;
    fail: (fails: boolean) => void;
  }> {
    let looks = 0;
    let isGone = false;
    const progress: Archive['progress'] = async (query) => {
      looks += 1;
      if (isGone) throw transient('database_unreachable', 'secret-host refuses connections');
      return opened.archive.progress(query);
    };
    const eventTimes = { ...times, aliveMs };
    const of = await fresh(serveArchive({ ...opened.archive, progress }, { eventTimes }));
    return { of, looks: () => looks, fail: (fails) => void (isGone = fails) };
  }
  const change = (reason: string): Promise<unknown> =>
    opened.db.query(
      `update sync.projects set parked_at = now(), parked_reason = $1 where project_id = 'p'`,
      [reason],
    );

  test('tell at once, and then when something has changed, all who listen by one look', async () => {
    const { of, looks } = await counted();
    const [one, two] = await Promise.all([listen(of), listen(of)]);
    await soon(() => expect(one.events()).toHaveLength(1));
    expect(one.text()).toMatch(/^retry: 3000\n\n/);
    const progress = await json('/progress?project=p');
    const clocks = { archive_now: expect.any(String) as string };
    expect(one.events()[0]).toEqual(['progress', { ...(progress as object), ...clocks }]);
    // It is looked at again and again meanwhile.
    await soon(() => expect(one.text()).toContain(': all is well\n\n'));
    expect(one.events()).toHaveLength(1);
    await change('no');
    await soon(() => expect(two.events()).toHaveLength(2));
    expect(two.events()[1]?.[1]).toMatchObject({ parked: { reason: 'no' } });
    await soon(() => expect(one.events()).toEqual(two.events()));
    const [before, since] = [looks(), performance.now()];
    await wait(10 * times.everyMs);
    const rounds = (performance.now() - since) / times.everyMs;
    expect(looks() - before).toBeLessThanOrEqual(rounds + 1);
  });

  test('nobody who left is told anything, and nothing is looked at for nobody', async () => {
    // Longer than the test: nothing is said by which they could be missed.
    const { of, looks } = await counted(3_600_000);
    const all = await Promise.all(Array.from({ length: mostOfOne }, () => listen(of)));
    const refused = await ask('/events?project=p', of);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).not.toBeNull();
    expect(await refused.text()).toContain('too many listen');
    for (const one of all.slice(1)) one.leave();
    // Their places are free as soon as the server has seen them leave.
    const next = await soon(() => listen(of));
    await soon(() => expect(next.events()).toHaveLength(1));
    next.leave();
    all[0]?.leave();
    await Promise.all([...all, next].map(({ ended }) => ended));
    let seen: number;
    do {
      seen = looks();
      await wait(5 * times.everyMs);
    } while (looks() !== seen);
    await wait(5 * times.everyMs);
    expect(looks()).toBe(seen);
  });

  test('end when the server stops, and are not begun any more', async () => {
    const { of } = await counted();
    const one = await listen(of);
    const closing = of.close();
    expect(await one.ended).toBe('ended');
    await closing;
  });

  test('tell of trouble in a sentence once, and go on when it is over', async () => {
    const { of, fail } = await counted();
    const one = await listen(of);
    await soon(() => expect(one.events()).toHaveLength(1));
    fail(true);
    await soon(() => expect(one.events()).toHaveLength(2));
    const late = await listen(of);
    await soon(() => expect(late.events()).toHaveLength(1));
    await wait(3 * times.everyMs);
    const trouble = [
      'trouble',
      { error: { message: 'the archive cannot be reached: try again later' } },
    ];
    expect(one.events()[1]).toMatchObject(trouble);
    expect(late.events()).toMatchObject([trouble]);
    expect(one.text()).not.toContain('secret-host');
    fail(false);
    await soon(() => expect(late.events()).toHaveLength(2));
    expect(late.events()[1]?.[0]).toBe('progress');
    const names = () => one.events().map(([name]) => name);
    await soon(() => expect(names()).toEqual(['progress', 'trouble', 'progress']));
  });

  test('of a project that no run could enter there is nothing to tell yet; HEAD listens to nothing', async () => {
    const projects = [{ id: 'none', classesOf: 'none' }];
    const none = await fresh(serveArchive(opened.archive, { projects, eventTimes: times }));
    const answer = await fetch(`${none.url}/archive/v1/events`);
    const reader = answer.body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? []).toString()).toBe('retry: 3000\n\n');
    const head = await fetch(`${none.url}/archive/v1/events`, { method: 'HEAD' });
    expect(head.status).toBe(200);
  });
});

test('the settings in force are told to whoever reads every project, and to nobody else', async () => {
  const inForce = settingsInForce({ OUTLAST_API_SECRET: 'not to be told' });
  const projects = ['p', 'q'].map((id) => ({ id, classesOf: id }));
  const keys = [bearerKey('of-all', ['p', 'q']), bearerKey('of-one', ['p'])];
  const given = { host: '0.0.0.0', projects, keys, settings: inForce };
  const guarded = await fresh(serveArchive(opened.archive, given));
  const read = async (path: string, bearer: string): Promise<[number, string]> => {
    const answer = await fetch(guarded.url + path, { headers: bearing(bearer) });
    return [answer.status, await answer.text()];
  };
  const items = inForce.map(({ isSecret, ...one }) => ({ ...one, is_secret: isSecret }));
  const [status, text] = await read('/archive/v1/settings', 'of-all');
  expect([status, JSON.parse(text)]).toEqual([200, { items }]);
  expect((await read('/archive/v1/settings', 'of-one'))[0]).toBe(403);
  const [shown, page] = await read('/settings', 'of-all');
  expect([shown, page]).toEqual([200, expect.stringContaining('OUTLAST_API_SECRET')]);
  const [hidden, none] = await read('/settings', 'of-one');
  expect([hidden, none]).toEqual([
    403,
    expect.stringContaining('Not shown here: they are for whoever may read every project.'),
  ]);
  expect(none).not.toContain('OUTLAST_API_SECRET');
  // P10
  expect(text + page).not.toContain('not to be told');
});
