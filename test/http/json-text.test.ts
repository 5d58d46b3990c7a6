// How a record's JSON is shown, and told apart from what it was before.
import { expect, test } from 'vitest';
import { differences, laidOut } from '../../src/http/web/json-text.ts';
import { parseJson } from '../../src/platform/json.ts';

test.each([
  ['{"a":1}', '{"a":1.0}', [['a', '1', '1.0']]],
  ['{"a":{"b":1}}', '{"a":[1]}', [['a', '{"b": 1}', '[1]']]],
  ['{"a":[1,2,{"b":[3]}]}', '{"a":[1,2,{"b":[3,4]}]}', [['a[2].b[1]', null, '4']]],
  [
    '{"a.b":null,"":true}',
    '{"":false}',
    [
      ['[""]', 'true', 'false'],
      ['["a.b"]', 'null', null],
    ],
  ],
  ['{"a":1,"b":2}', '{"b":2,"a":1}', []],
  ['[1]', '"x"', [['', '[1]', '"x"']]],
  [`{"${'k'.repeat(200)}":1}`, '{}', [[`["${'k'.repeat(100)}…"]`, '1', null]]],
])('from %s to %s', (was, became, expected) => {
  const found = differences(parseJson(was), parseJson(became));
  expect(found.map((one) => [one.path, one.was, one.became])).toEqual(expected);
});

test('is laid out as the same value, without what cannot be seen, and no deeper than can be read', () => {
  const text = `{"n":[12345678901234567890,1e400,{}],"t":"\\u0000\u202e\u200bé","deep":${'['.repeat(300)}${']'.repeat(300)}}`;
  const shown = laidOut(parseJson(text));
  expect(shown).toContain('\n    12345678901234567890,\n    1e400,\n    {}\n');
  expect(shown).toContain(String.raw`"\u0000\u202e\u200bé"`);
  expect(JSON.parse(shown)).toEqual(JSON.parse(text));
  expect(Math.max(...shown.split('\n').map((line) => line.search(/\S/)))).toBe(32);
});
