// What the settings and the projects file have in common: the shape of a project and the checks of its fields.
export type ProjectSettings = {
  id: string;
  baseUrl: string;
  apiKey: string;
  apiSecret: string;
  classes: 'all' | 'none' | string[];
  tokensUrl: string | null;
  /** Requests per second at most, over all slices and replicas (P11). */
  maxRps: number;
};

export type ReadFile = (path: string) => string;

export type Reader = {
  /** The value, from the environment or the file it names; the default; or null. Empty counts as unset. */
  text(name: string): string | null;
  number(name: string, least: number, most: number): number;
  whole(name: string, least: number, most: number): number;
  /** Any variable, by a name that a projects file gives. */
  variable(name: string): string | null;
};

export const projectName = /^[a-z0-9_-]{1,40}$/;

/** What is wrong with an address, as the end of a sentence; null when it is usable. */
export function urlMistake(text: string): string | null {
  if (!URL.canParse(text)) return 'is no address: give one such as https://platform.example';
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return 'must begin with https:// or http://';
  if (url.username !== '' || url.password !== '') return 'must not hold a user or password';
  if (url.search !== '' || url.hash !== '') return 'must not have a query or fragment';
  return null;
}
