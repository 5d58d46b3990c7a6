import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonical, jsonbText, plainDecimal, sha256 } from '../../src/platform/canonical.ts';
import { parseJson } from '../../src/platform/json.ts';

const canonicalOf = (text: string): string => canonical(parseJson(text)).text;

describe('canonical JSON', () => {
  it.each([
    ['{ "b" : [ 1 , true , null ] , "a" : { } , "c" : [ ] }', '{"a":{},"b":[1,true,null],"c":[]}'],
    ['{"a":1,"a":2}', '{"a":2}'],
    ['{"\u{1f600}":1,"\uffff":2,"z":3,"Z":4}', '{"Z":4,"z":3,"\uffff":2,"\u{1f600}":1}'],
    [String.raw`"\/\u0041\u00e9\u2028\ud83d\ude00\u007f"`, '"/Aé\u2028\u{1f600}\u007f"'],
    [String.raw`"\"\\\b\t\n\f\r\u0001\u001F"`, String.raw`"\"\\\b\t\n\f\r\u0001\u001f"`],
    [String.raw`"\u0000\uD800x\uDFFF"`, String.raw`"\u0000\ud800x\udfff"`],
  ])('of %s is %s', (text, expected) => {
    expect(canonicalOf(text)).toBe(expected);
  });

  it.each([
    ['0', '0'],
    ['-0', '0'],
    ['-0.000', '0'],
    ['0e5', '0'],
    ['1.50', '1.5'],
    ['1.00', '1'],
    ['100', '100'],
    ['1e2', '100'],
    ['1E-2', '0.01'],
    ['-12.340e1', '-123.4'],
    ['0.00120e2', '0.12'],
    ['0.0012e4', '12'],
    ['12345.678e-3', '12.345678'],
    ['9007199254740993', '9007199254740993'],
    ['1e-16383', `0.${'0'.repeat(16382)}1`],
    ['1e131071', `1${'0'.repeat(131071)}`],
    // Beyond numeric: as written, in lower case, and never expanded.
    ['1e-16384', '1e-16384'],
    ['1E131072', '1e131072'],
    ['-1E+999999999', '-1e+999999999'],
    ['0e-16384', '0e-16384'],
    ['1E99999999999999999999', '1e99999999999999999999'],
    ['0E99999999999999999999', '0e99999999999999999999'],
  ])('spells the number %s as plain decimal', (text, expected) => {
    expect(canonicalOf(text)).toBe(expected);
  });

  it('spells every way of writing a number alike', () => {
    const digits = fc.stringMatching(/^(0|[1-9]\d{0,20})(\.\d{1,20})?$/);
    fc.assert(
      fc.property(digits, fc.integer({ min: -40, max: 40 }), (text, power) => {
        const plain = plainDecimal(`${text}e${power}`);
        expect(plain).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
        expect(plainDecimal(`${plain}e${-power}`)).toBe(plainDecimal(text));
        expect(Number(plain)).toBe(Number(`${text}e${power}`));
      }),
    );
  });

  it('has the digest that its text has for everybody', () => {
    // printf '{"a":"é","b":1.5}' | sha256sum
    expect(sha256(canonicalOf('{"b":1.50,"a":"\\u00e9"}'))).toBe(
      '2c49ddb7484aa328e8548d51dd66aa8b939f14a89fd1057a857fd4275edbb500',
    );
  });

  it('is the same for every spelling, order and spacing of a value, and different for different values', () => {
    const values = fc.jsonValue({ stringUnit: 'binary' });
    fc.assert(
      fc.property(values, (value) => {
        const compact = JSON.stringify(value);
        const escaped = JSON.stringify(value, null, 1).replaceAll(
          /[^ -~\n]/g,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}`,
        );
        expect(canonicalOf(escaped)).toBe(canonicalOf(compact));
        // It is JSON itself, of the same value: nothing is lost on the way.
        expect(JSON.parse(canonicalOf(compact))).toEqual(JSON.parse(compact));
      }),
    );
  });

  it('says when jsonb cannot hold a value, and then gives the nearest that it can', () => {
    const cases: [string, string | null][] = [
      ['{"a":"\\u0000","\\ud800":1}', '{"a":"\ufffd","\ufffd":1}'],
      ['[1e131072,1e5,-1E-99999]', '["1e131072",1e5,"-1e-99999"]'],
      ['{"a":1e999999,"b":"\\u0000","\\u0061":2,"b":3}', '{"a":2,"b":3}'],
      ['{"a":"\\\\u0000 \\ud83d\\ude00"}', null],
      ['[true,null,"",{}]', null],
    ];
    for (const [text, expected] of cases) {
      const value = parseJson(text);
      expect(canonical(value).fits).toBe(expected === null);
      if (expected !== null) expect(jsonbText(value)).toBe(expected);
      expect(canonical(parseJson(jsonbText(value))).fits).toBe(true);
    }
    const deep = parseJson('[[["\\ud800"]]]', 2);
    expect(canonical(deep)).toEqual({ text: '[[["\\ud800"]]]', fits: false });
    expect(jsonbText(deep)).toBe('[["\ufffd"]]');
  });
});
