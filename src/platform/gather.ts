// An answer's body as it comes in, piece by piece, within bounds: records of its list that are too long are cut out on
// the way, and only their beginning, length and digest stay. Knows JSON's brackets and strings, and nothing of fields.
import { createHash, type Hash } from 'node:crypto';
import { byteBounds, mostParts, type ByteBounds } from './byte-bounds.ts';

/** What is kept of a record that was too long. */
export type CutRecord = {
  beginning: Buffer;
  /** Of all of it. */
  length: number;
  /** Lower-case hex. */
  sha256: string;
};

/** A body, and what was cut out of it by the string that stands in its place. */
export type Gathered = { body: Buffer; cut: ReadonlyMap<string, CutRecord> };

/** `list`: elements of its outermost arrays may be cut out; `record`: one record, taken whole or not at all. */
export type AnswerShape = 'list' | 'record' | 'refusal';

export type Gatherer = {
  /** Null, or why no more of it is to be taken, as the end of a sentence. */
  add(piece: Buffer): string | null;
  end(): Gathered;
};

const nothingCut: Gathered['cut'] = new Map();

export function createGatherer(shape: AnswerShape, bounds: ByteBounds = byteBounds): Gatherer {
  const pieces: Buffer[] = [];
  const ordinary = shape === 'refusal' ? bounds.refusal : bounds.record;
  let cutter: Cutter | null = null;
  let arrived = 0;
  return {
    add(piece) {
      arrived += piece.length;
      const isTooLong = arrived > bounds.answer;
      if (cutter !== null && !isTooLong) return cutter.add(piece);
      if (cutter === null) pieces.push(piece);
      if (isTooLong) return `an answer longer than ${bounds.answer} bytes`;
      // Nearly every answer ends here: in so few bytes there is nothing to be cut.
      if (arrived <= ordinary) return null;
      if (shape !== 'list') return `an answer longer than ${ordinary} bytes`;
      cutter = createCutter(bounds);
      return cutter.add(Buffer.concat(pieces));
    },
    end: () => cutter?.end() ?? { body: Buffer.concat(pieces), cut: nothingCut },
  };
}

type Cutter = Gatherer;

/** One byte after the other, once: 64 MiB take a fifth of a second, in pieces of 64 KiB. */
function createCutter(bounds: ByteBounds): Cutter {
  const cut = new Map<string, CutRecord>();
  const out: Buffer[] = [];
  let held = 0;
  let parts = 0;
  let depth = 0;
  /** The depth of the outermost array we are in; 0 outside of any. */
  let list = 0;
  let inString = false;
  let isEscaped = false;
  /** The element at hand. */
  let element: Buffer[] = [];
  let length = 0;
  let beyond: { hash: Hash; beginning: Buffer } | null = null;
  /** White space behind it: no part of it, but what follows it would be. */
  let isParted = false;

  const keep = (piece: Buffer): void => {
    out.push(piece);
    held += piece.length;
  };

  const take = (piece: Buffer): void => {
    if (piece.length === 0) return;
    length += piece.length;
    if (beyond !== null) {
      beyond.hash.update(piece);
      return;
    }
    element.push(piece);
    if (length <= bounds.record) return;
    const all = Buffer.concat(element);
    // A copy: a piece of a buffer keeps the whole of it.
    const beginning = Buffer.from(all.subarray(0, bounds.beginning));
    beyond = { hash: createHash('sha256').update(all), beginning };
    element = [];
  };

  const endElement = (): void => {
    parts++;
    if (beyond === null) element.forEach(keep);
    else {
      const sha256 = beyond.hash.digest('hex');
      const placeholder = `"cut:${sha256}"`;
      cut.set(placeholder, { beginning: beyond.beginning, length, sha256 });
      keep(Buffer.from(placeholder));
    }
    element = [];
    length = 0;
    beyond = null;
    isParted = false;
  };

  return {
    add(piece) {
      let from = 0;
      /** Hands over what was passed since the last time. */
      const flush = (to: number): void => {
        const passed = piece.subarray(from, to);
        if (list > 0) take(passed);
        else if (passed.length > 0) keep(passed);
        from = to;
      };
      for (let at = 0; at < piece.length; at++) {
        const byte = piece[at];
        if (inString) {
          if (isEscaped) isEscaped = false;
          else if (byte === 0x5c) isEscaped = true;
          else if (byte === 0x22) inString = false;
          continue;
        }
        const isInList = list > 0 && depth === list;
        switch (byte) {
          case 0x20:
          case 0x0a:
          case 0x0d:
          case 0x09:
            if (isInList) {
              flush(at);
              from = at + 1;
              isParted = length > 0;
            }
            continue;
          case 0x2c: // ,
            if (list === 0) parts++;
            if (!isInList) continue;
            flush(at);
            endElement();
            keep(piece.subarray(at, (from = at + 1)));
            continue;
          case 0x5d: // ]
          case 0x7d: // }
            if (isInList) {
              flush(at);
              if (length > 0) endElement();
              list = 0;
            }
            depth--;
            continue;
          case undefined:
            continue;
        }
        if (isParted) {
          // No JSON, and it stays none.
          take(space);
          isParted = false;
        }
        if (byte === 0x22) inString = true;
        else if (byte === 0x7b) depth++;
        else if (byte === 0x5b) {
          depth++;
          if (list === 0) {
            flush(at + 1);
            list = depth;
          }
        }
      }
      flush(piece.length);
      if (parts > mostParts) return `an answer of more than ${mostParts} parts`;
      const waiting = beyond === null ? length : 0;
      if (held + waiting > bounds.held) {
        return `an answer longer than ${bounds.held} bytes, besides what was cut out of it`;
      }
      return null;
    },
    end() {
      if (length > 0) endElement();
      return { body: Buffer.concat(out), cut };
    },
  };
}

const space = Buffer.from(' ');
