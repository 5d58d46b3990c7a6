import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Json, parseJson } from '../../src/platform/json.ts';

/** The tree as JSON.parse would give it, where that is exact enough to compare. */
function plain(value: Json): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (value.type === 'number') return Number(value.text);
  if (value.type === 'array') return value.items.map(plain);
  if (value.type === 'deep') return value.text;
  const object: Record<string, unknown> = {};
  for (const [key, item] of value.fields) {
    Object.defineProperty(object, key, {
      value: plain(item),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return object;
}

const anyJson = fc.jsonValue({ stringUnit: 'binary', maxDepth: 6 });

describe('the reader of JSON', () => {
  it('reads what JSON.parse reads, however it is spaced', () => {
    fc.assert(
      fc.property(anyJson, fc.constantFrom('', ' ', '\t', '\r\n  '), (value, space) => {
        const text = JSON.stringify(value, null, space);
        expect(plain(parseJson(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  const accepts = (read: (text: string) => unknown, text: string): boolean => {
    try {
      read(text);
      return true;
    } catch {
      return false;
    }
  };

  it('accepts and refuses exactly what JSON.parse does', () => {
    const marks =
      '{ } [ ] , : " "a" \\ \\u12 \\ud800 / é true nul null 0 1 - + . e E .5 1. 01 1e5'.split(' ');
    const rest = ['\u0000', '\u001f', ' ', '\n', '\ufeff', '\u00a0', '\u2028'];
    const pieces = fc.constantFrom(...marks, ...rest);
    const texts = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, (text) => {
        expect([text, accepts(parseJson, text)]).toEqual([text, accepts(JSON.parse, text)]);
      }),
      { numRuns: 5000 },
    );
  });

  const page = '{"data":{"list":[{"a":"\\u00e9\\"","b":[1.5e3,null]},{}],"n":-1}}';

  it('accepts and refuses what JSON.parse does with any one character of a page changed', () => {
    for (let i = 0; i < page.length; i++) {
      for (const mark of '{}[],:"\\1-.e x') {
        const text = page.slice(0, i) + mark + page.slice(i + 1);
        expect([text, accepts(parseJson, text)]).toEqual([text, accepts(JSON.parse, text)]);
      }
    }
  });

  it('refuses every truncation of a page', () => {
    const text = page;
    for (let length = 0; length < text.length; length++) {
      expect(() => parseJson(text.slice(0, length))).toThrow(SyntaxError);
      expect(() => parseJson(text.slice(0, length), 2)).toThrow(SyntaxError);
    }
  });

  it.each(['9007199254740993', '1e400', '-0', '0.10', '1E+2', `1${'0'.repeat(5000)}`])(
    'keeps the spelling of the number %s',
    (text) => {
      expect(parseJson(` ${text} `)).toEqual({ type: 'number', text });
    },
  );

  it('knows where each element of a list stood', () => {
    fc.assert(
      fc.property(fc.array(anyJson), fc.constantFrom('', ' ', '\n'), (values, space) => {
        const pieces = values.map((value) => JSON.stringify(value, null, space));
        const text = `[${pieces.map((piece) => space + piece + space).join(',')}]`;
        const list = parseJson(text);
        if (typeof list !== 'object' || list?.type !== 'array') throw new Error('no list');
        expect(
          list.items.map((_, i) => text.slice(list.spans[2 * i], list.spans[2 * i + 1])),
        ).toEqual(pieces);
      }),
    );
  });

  it('keeps the last of several equal keys and finds nothing special about __proto__', () => {
    const value = parseJson('{"a":1,"__proto__":{"b":2},"\\u0061":3}');
    if (typeof value !== 'object' || value?.type !== 'object') throw new Error('no object');
    expect([...value.fields.keys()]).toEqual(['a', '__proto__']);
    expect(value.fields.get('a')).toEqual({ type: 'number', text: '3' });
    expect(value.fields.get('b')).toBeUndefined();
  });

  it('takes what nests too deep as text, without overflowing the stack', () => {
    const depth = 200_000;
    const text = `[1,{"a":${'['.repeat(depth)}"]}"${']'.repeat(depth)}},2]`;
    const value = parseJson(text, 2);
    if (typeof value !== 'object' || value?.type !== 'array') throw new Error('no list');
    expect(value.items[2]).toEqual({ type: 'number', text: '2' });
    expect(text.slice(value.spans[2], value.spans[3])).toBe(text.slice(3, -3));
    expect(() => parseJson('['.repeat(depth))).toThrow(SyntaxError);
  });

  it('never puts a piece of the text into an error', () => {
    for (const text of ['{"hidden":"hid\\xden"}', '["hidden', 'hidden', '{"a":hidden}']) {
      expect(() => parseJson(text)).toThrow(/^no valid JSON at character \d+ of \d+$/);
    }
  });

  it('reads a field of 5 MB', () => {
    const value = parseJson(JSON.stringify({ message: 'x"'.repeat(2_500_000) }));
    expect(plain(value)).toHaveProperty('message.length', 5_000_000);
  });
});
