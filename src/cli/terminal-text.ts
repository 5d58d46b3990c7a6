// Text as a terminal shows it: how wide it is, and what must not reach it. Pure.
import stringWidth from 'string-width';

/** Columns that a text takes: East Asian wide characters and most emoji take two, combining marks none. */
export const widthOf = (text: string): number => stringWidth(text);

/**
 * Text as it may reach a terminal: what the platform sends (names, messages) could otherwise move the cursor, recolour
 * the screen or turn the writing direction. Such characters are shown as `\u{…}`.
 */
export function printable(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/** The beginning of a text that fits into so many columns. */
export function fitting(text: string, columns: number): string {
  let left = columns;
  let fits = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    left -= widthOf(segment);
    if (left < 0) break;
    fits += segment;
  }
  return fits;
}
