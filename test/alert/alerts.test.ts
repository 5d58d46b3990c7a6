// What becomes of alerts, and what is told of them: pure, by tables and fixed clocks.
import { describe, expect, it } from 'vitest';
import { mergeAlerts } from '../../src/alert/merge-alerts.ts';
import { bodyOf, messageText } from '../../src/alert/message.ts';
import type { AlertRow, Claimed } from '../../src/store/alerts/alert-rows.ts';

const at = (text: string): number => Date.parse(text);
const hour = 3_600_000;
const day = 24 * hour;
describe('what becomes of alerts', () => {
  const now = at('2026-04-06T12:00:00Z');
  const open = (more: Partial<AlertRow> = {}): AlertRow => ({
    kind: 'run_failed',
    subject: '',
    text: 'it failed',
    openedAt: now - 10 * hour,
    toldAt: now - 9 * hour,
    resolvedAt: null,
    attempts: 0,
    ...more,
  });
  const news = (more: Partial<AlertRow> = {}): AlertRow =>
    open({
      kind: 'rejects',
      subject: 'orders',
      text: '3 records',
      resolvedAt: now - 10 * hour,
      ...more,
    });
  const holds = ({ kind, subject, ...row }: AlertRow, text: string) => [
    { kind: kind as 'run_failed', subject, text, isNews: row.resolvedAt === row.openedAt },
  ];
  const merged = (rows: AlertRow[], conditions: ReturnType<typeof holds>) =>
    mergeAlerts(rows, conditions, now, day);
  const nothing = { put: [], drop: [] };

  it('a new condition is opened; one that goes on changes nothing; its text follows the counts', () => {
    expect(merged([], holds(open(), 'it failed')).put).toEqual([
      open({ openedAt: now, toldAt: null }),
    ]);
    expect(merged([open()], holds(open(), 'it failed'))).toEqual(nothing);
    expect(merged([open()], holds(open(), 'it failed twice')).put).toEqual([
      open({ text: 'it failed twice' }),
    ]);
  });

  it('what was told is over when its condition is gone; what nobody heard of just goes', () => {
    expect(merged([open()], []).put).toEqual([open({ resolvedAt: now })]);
    expect(merged([open({ toldAt: null })], []).drop).toHaveLength(1);
    // It was sent, and perhaps it arrived.
    expect(merged([open({ toldAt: null, attempts: 1 })], []).put).toHaveLength(1);
  });

  it('what comes back before its end was told never ended', () => {
    expect(merged([open({ resolvedAt: now - 60_000 })], holds(open(), 'it failed')).put).toEqual([
      open(),
    ]);
  });

  it('an end nobody takes is forgotten after a week', () => {
    expect(merged([open({ resolvedAt: now - 6 * day })], [])).toEqual(nothing);
    expect(merged([open({ resolvedAt: now - 8 * day })], []).drop).toHaveLength(1);
  });

  it.each([
    ['deadline_at_risk', 'deadline_missed'],
    ['deadline_missed', 'day_lost'],
    ['operation_at_risk', 'operation_lost'],
    ['run_failed', 'parked'],
  ])('%s that ends in %s is no recovery, and of another subject it is one', (kind, ending) => {
    const row = open({ kind, subject: '2026-03' });
    const isNews = ending.endsWith('_lost');
    const next = { ...row, kind: ending, resolvedAt: isNews ? row.openedAt : null };
    expect(merged([row], holds(next, 'worse'))).toMatchObject({ drop: [row] });
    const other = { ...next, subject: '2026-02' };
    expect(merged([row], holds(other, 'worse'))).toMatchObject({ drop: [] });
  });

  it('news is told once, again when more of it happened a reminder later, and kept as long as it holds', () => {
    expect(merged([news()], holds(news(), '3 records'))).toEqual(nothing);
    expect(merged([news()], holds(news(), '4 records'))).toEqual(nothing);
    const old = news({ toldAt: now - 25 * hour });
    expect(merged([old], holds(old, '4 records')).put).toEqual([
      news({ text: '4 records', openedAt: now, resolvedAt: now, toldAt: null }),
    ]);
    const [at, attempts] = [now - 25 * hour, 3];
    const unheard = news({ openedAt: at, resolvedAt: at, toldAt: null, attempts });
    expect(merged([unheard], holds(unheard, '4 records')).put).toEqual([
      news({ text: '4 records', openedAt: now, resolvedAt: now, toldAt: null, attempts }),
    ]);
    expect(merged([news({ toldAt: null })], [])).toEqual(nothing);
    expect(merged([news()], []).drop).toHaveLength(1);
  });
});

describe('messages', () => {
  const claimed = (n: number, more: Partial<Claimed> = {}): Claimed => ({
    projectId: 'p',
    kind: 'proof_fails',
    subject: `orders ${n}`,
    text: `orders ${n}: it fails.`,
    openedAt: 1,
    toldAt: null,
    resolvedAt: null,
    attempts: 1,
    claim: '',
    ...more,
  });

  it('say what is new, what happened, what is still open and what is over, in that order', () => {
    const text = messageText([
      claimed(1, { toldAt: 2, resolvedAt: 3 }),
      claimed(2, { toldAt: 2 }),
      claimed(3, { resolvedAt: 1 }),
      claimed(4),
    ]);
    expect(text.split('\n')).toEqual([
      'Outlast: 1 new, 1 news, 1 still open, 1 over',
      '• p: orders 4: it fails.',
      '• p: orders 3: it fails.',
      '• p: Still: orders 2: it fails.',
      '• p: Over: orders 1: it fails.',
    ]);
  });

  it('sixty alerts at once are one message that counts them and names the first few', () => {
    const sixty = Array.from({ length: 60 }, (_, n) => claimed(n));
    expect(messageText(sixty).split('\n')).toEqual([
      'Outlast: 60 new',
      '• p: orders 0: it fails.',
      '• p: orders 1: it fails.',
      '• p: orders 2: it fails.',
      '… and 57 more of the same kind',
    ]);
    const body = JSON.parse(bodyOf(sixty, 'json')) as { alerts: unknown[]; left_out: number };
    expect([body.alerts.length, body.left_out]).toEqual([50, 10]);
  });

  it('stay short however many projects and kinds there are', () => {
    const flood = Array.from({ length: 5000 }, (_, n) => claimed(n, { projectId: `p${n % 900}` }));
    expect(bodyOf(flood, 'json').length).toBeLessThan(20_000);
    // WeCom counts bytes, and the heads are not what is left out.
    const wide = flood.map((one) => ({ ...one, text: `${one.text} 截止日期已过，且没有证明。` }));
    const head = { no: 1, at: '2026-04-06T12:00:00Z', head: '3f'.repeat(32) };
    const heads = flood.slice(0, 30).map(({ projectId: project }) => ({ project, ...head }));
    const { text } = JSON.parse(bodyOf(wide, 'wecom', heads)) as { text: { content: string } };
    expect(Buffer.byteLength(text.content)).toBeGreaterThan(1_800);
    expect(Buffer.byteLength(text.content)).toBeLessThanOrEqual(2_000);
    expect(text.content).toMatch(
      /^Outlast: 5000 new\n• p0: [^]*\n… `outlast query alerts` lists all\nJournal/,
    );
    expect(text.content.match(/head 1 is (3f){32}/g)).toHaveLength(7);
  });

  it('a name cannot address anybody in Slack', () => {
    const body = bodyOf([claimed(1, { text: 'of <!channel> & co' })], 'slack');
    expect(JSON.parse(body)).toEqual({
      text: 'Outlast: 1 new\n• p: of &lt;!channel&gt; &amp; co',
    });
  });
});
