// Records as odd as a platform may send them: what was archived of them verifies, every column of it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCertified, observe, type Certified } from '../support/certified.ts';

const when = '"create_time":"2026-03-05T10:00:00Z"';
const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

/** By id, what else the order says. */
const odd: Record<string, string> = {
  nul: `"message":"a\\u0000b",${when}`,
  surrogate: `"message":"\\ud800","account":"\\udfff",${when}`,
  'huge number': `"amount":1e999999,"n":[1e131072,-1E-99999],${when}`,
  deep: `"n":${deep(300)},${when}`,
  repeated: `"status":1,"status":2,${when}`,
  'repeated and unstorable': `"message":"\\u0000","message":"held",${when}`,
  'odd numbers': `"amount":"+007.50","number":1.50e2,"status":"2","order_type":1.0,${when}`,
  'negative nothing': `"amount":"-0","number":-0.0,"status":-0,${when}`,
  'long number': `"amount":"${'9'.repeat(999)}","number":0.${'1'.repeat(900)},${when}`,
  'too long a number': `"amount":"${'9'.repeat(1001)}","number":"1e5",${when}`,
  words: `"status":"Success ","amount":"12 fen","number":true,"order_type":[],${when}`,
  nothing: `"status":null,"message":null,"account":"","amount":"","number":null,"update_time":"",${when}`,
  'long account': `"account":"${'x'.repeat(600)}",${when}`,
  'no time': `"status":2`,
  'no readable time': `"create_time":"yesterday","update_time":"2026-02-30"`,
  'another zone': `"create_time":"2026-03-05 23:30:00 -0800 PST","update_time":1772704800123`,
  microseconds: `"create_time":"2026-03-05 10:00:00.1234567","update_time":"2026-03-05T10:00:00.500Z"`,
  'unknown fields': `"":{"b":1,"a":[1.0,{}]},"__proto__":1,"\\u0061\\ud83d\\ude00":"\\/",${when}`,
};

/** Times at the ends of what a column can hold: no platform could show them among the orders of a day. */
const ends: Record<string, string> = {
  'the first day': `"create_time":"0001-01-01T00:00:00Z"`,
  'the last moment': `"create_time":"9999-12-31T23:59:59.999999Z"`,
};

const textOf = (id: string, fields: string): string =>
  `{"operation_id":${JSON.stringify(id)},${fields}}`;

let archive: Certified;
beforeAll(async () => {
  archive = await createCertified({
    orders: Object.entries(odd).map(([id, fields]) => ({
      id,
      text: textOf(id, fields),
      at: Date.parse('2026-03-05T10:00:00Z'),
    })),
    classes: [],
  });
  for (const [id, fields] of Object.entries(ends)) {
    await observe(archive, textOf(id, fields), '2026-05-01T12:00:00Z');
  }
});
afterAll(() => archive.close());

test('all of them are held and verify', async () => {
  const { lists, findings } = await archive.verify();
  expect(findings).toEqual([]);
  expect(lists[0]?.records).toBe(Object.keys({ ...odd, ...ends }).length);
  const { rows } = await archive.db.query<{ id: string }>(
    'select operation_id as id from archive.orders where raw_bytes is not null order by 1',
  );
  expect(rows.map(({ id }) => id)).toEqual(
    expect.arrayContaining(['nul', 'surrogate', 'huge number', 'deep']),
  );
});
