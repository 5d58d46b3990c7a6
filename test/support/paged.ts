// A list read page by page, to its end and back again.

type Page = { next?: string | null; previous?: string | null };
type Read<Of extends Page> = (paging: { cursor?: string }) => Promise<Of>;

/** Its pages, the first to the last. */
export const pagesOf = async <Of extends Page>(read: Read<Of>): Promise<Of[]> =>
  pagesBeyond(read, await read({}), 'next');

/** This page and all that follow it, or lie before it. */
export async function pagesBeyond<Of extends Page>(
  read: Read<Of>,
  page: Of,
  side: 'next' | 'previous',
): Promise<Of[]> {
  const pages = [page];
  for (let cursor = page[side]; typeof cursor === 'string'; cursor = pages.at(-1)?.[side]) {
    pages.push(await read({ cursor }));
  }
  return pages;
}
