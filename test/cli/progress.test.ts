// The line that says how far a command is.
import { describe, expect, it } from 'vitest';
import { createProgress, type Sofar } from '../../src/cli/progress.ts';
import { widthOf } from '../../src/cli/print.ts';

const progressOn = (out: { isTTY?: boolean; columns?: number }) => {
  const written: string[] = [];
  const clock = { now: 0 };
  const progress = createProgress(
    { ...out, write: (text: string) => written.push(text) },
    () => clock.now,
  );
  return { written, clock, progress };
};

const orders = (done: number): Sofar => ({ name: 'shop', done, all: 1000, unit: 'orders' });

describe('on a terminal', () => {
  it('is one line, redrawn five times a second at most, and taken away at the end', () => {
    const { written, clock, progress } = progressOn({ isTTY: true, columns: 60 });
    progress.update('12 records');
    progress.update('13 records');
    clock.now = 200;
    progress.update('2 slices');
    progress.end();
    progress.end();
    expect(written).toEqual(['\r12 records\u001b[K\r', '\r2 slices\u001b[K\r', '\r\u001b[K']);
  });

  it('has share, count, rate and the time that is left, of the last seconds', () => {
    const { written, clock, progress } = progressOn({ isTTY: true, columns: 100 });
    progress.update(orders(100));
    clock.now = 1_000;
    progress.update(orders(150));
    // What was done before it began to look on says nothing of the rate, and a second is too short to tell.
    expect(written.at(-1)).toContain('shop  ███░░░░░░░░░░░░░░░░░  15 %  150 of 1,000 orders\u001b');
    clock.now = 4_000;
    progress.update(orders(300));
    expect(written.at(-1)).toContain('30 %  300 of 1,000 orders  50/s  14 s left\u001b');
    progress.end();
  });

  it('shows neither share nor time where nobody knows how many there will be', () => {
    const { written, clock, progress } = progressOn({ isTTY: true, columns: 80 });
    for (clock.now = 0; clock.now <= 4_000; clock.now += 1_000) {
      progress.update({ name: 'shop', done: clock.now, unit: 'records' });
    }
    progress.end();
    expect(written.at(-2)).toBe('\rshop  4,000 records  1,000/s\u001b[K\r');
  });

  it('never wraps: what matters least goes first, and wide characters are counted', () => {
    for (const columns of [100, 80, 60, 45, 30, 8]) {
      const { written, clock, progress } = progressOn({ isTTY: true, columns });
      progress.update({ ...orders(0), name: '数字藏品', more: '0 changed' });
      clock.now = 5_000;
      progress.update({ ...orders(400), name: '数字藏品', more: '12 changed' });
      progress.end();
      const line = (written.at(-2) ?? '').replaceAll('\r', '').replace('\u001b[K', '');
      expect(widthOf(line)).toBeLessThan(columns);
      if (columns >= 30) expect(line).toContain('40 %');
    }
  });

  it('is taken away, too, where the process ends on the spot, as by a second Ctrl-C', () => {
    const before = process.listeners('exit');
    const { written, progress } = progressOn({ isTTY: true, columns: 60 });
    const [atExit] = process.listeners('exit').filter((one) => !before.includes(one));
    progress.update('at work');
    atExit?.(130);
    expect(written.at(-1)).toBe('\r\u001b[K');
    progress.end();
    expect(process.listeners('exit')).toEqual(before);
  });

  it('is drawn again after a log line took its place, and stays gone after its end', async () => {
    const { written, progress, clock } = progressOn({ isTTY: true, columns: 60 });
    progress.update('at work');
    clock.now = 10_000;
    await expect.poll(() => written.length).toBe(2);
    expect(written[1]).toBe(written[0]);
    progress.end();
    clock.now = 20_000;
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(written.at(-1)).toBe('\r\u001b[K');
  });
});

describe('where lines stay', () => {
  it('is a plain line every five seconds, and the newest at the end', () => {
    const { written, clock, progress } = progressOn({});
    progress.update('1 record');
    clock.now = 5_000;
    progress.update(orders(500));
    clock.now = 8_000;
    progress.update(orders(800));
    progress.end();
    progress.end();
    expect(written).toEqual([
      'shop: 50 %, 500 of 1,000 orders\n',
      'shop: 80 %, 800 of 1,000 orders, 100/s, 2 s left\n',
    ]);
  });

  it('says nothing about what took less than five seconds', () => {
    const { written, progress } = progressOn({});
    progress.update('1 record');
    progress.end();
    expect(written).toEqual([]);
  });
});
