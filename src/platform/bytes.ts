// Order of texts as UTF-8 bytes, and what UTF-8 cannot say. Pure.
import { isUtf8 } from 'node:buffer';
import { toUSVString } from 'node:util';

/**
 * Compares two texts by their UTF-8 bytes. JavaScript's own order is by UTF-16 units, which puts
 * U+E000…U+FFFF after the characters beyond U+FFFF instead of before them; only there do the two differ.
 */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Moves surrogates (parts of characters beyond U+FFFF) behind every other unit. */
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

/**
 * Bytes as text without losing any: valid UTF-8 is decoded, and each byte that is part of none becomes the
 * lone surrogate U+DC00 + byte, which no valid UTF-8 decodes to. `encodeUtf8` is the exact way back.
 */
export function decodeUtf8(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  // Unit by unit: a text made of a piece for each bad byte took a second for a megabyte of them.
  const units = new Uint16Array(bytes.length);
  let count = 0;
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at] ?? 0;
    const length = byte < 0x80 ? 1 : sequenceLength(byte);
    const code = length === 1 ? byte : codePointAt(bytes, at, length);
    if (code === null) {
      units[count++] = 0xdc00 + byte;
      at++;
      continue;
    }
    if (code > 0xffff) {
      units[count++] = 0xd7c0 + (code >> 10);
      units[count++] = 0xdc00 + (code & 0x3ff);
    } else units[count++] = code;
    at += length;
  }
  return Buffer.from(units.buffer, 0, 2 * count).toString('utf16le');
}

/** The bytes that `decodeUtf8` made this text (or a piece of it) from. */
export function encodeUtf8(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  if (toUSVString(text) === text) return bytes;
  // Each lone surrogate stands there as the three bytes of U+FFFD: one byte comes in their place.
  let written = 0;
  for (let read = 0, at = 0; read < bytes.length; at++) {
    const unit = text.charCodeAt(at);
    const isHigh = unit >= 0xd800 && unit < 0xdc00;
    const isPair = isHigh && isLow(text.charCodeAt(at + 1));
    if (isPair) at++;
    const length = isPair ? 4 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    if (!isPair && (isHigh || isLow(unit))) bytes[written++] = unit & 0xff;
    else {
      bytes.copyWithin(written, read, read + length);
      written += length;
    }
    read += length;
  }
  return bytes.subarray(0, written);
}

const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** How long the UTF-8 sequence is that this byte, no ASCII, opens; 0 if it opens none. */
function sequenceLength(byte: number): number {
  if (byte < 0xc0 || byte > 0xf7) return 0;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}

/** By length, the least code point that needs so many bytes. */
const least = [0, 0, 0x80, 0x800, 0x10000];

/** The code point of a sequence of two to four bytes; null where they are none (RFC 3629). */
function codePointAt(bytes: Buffer, at: number, length: number): number | null {
  if (length === 0) return null;
  let code = (bytes[at] ?? 0) & (0x7f >> length);
  for (let i = 1; i < length; i++) {
    const byte = bytes[at + i] ?? 0;
    if ((byte & 0xc0) !== 0x80) return null;
    code = (code << 6) | (byte & 0x3f);
  }
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  return code < (least[length] ?? 0) || code > 0x10ffff || isSurrogate ? null : code;
}
