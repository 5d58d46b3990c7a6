// What a page is made from: who reads, in which language, which project, at what time.
import type { ComponentChildren } from 'preact';
import type { Archive } from '../../query/types.ts';
import type { Instant, ProjectId, SettingInForce } from '../../model.ts';
import { createFormat, type Format } from './format.ts';
import { sentences } from './sentences-zh.ts';
import { zh } from './words-zh.ts';
import { en, sayIn, type Lang, type Say, type Words } from './words.ts';

/** What is said and written differently in each language. */
export type Language = { lang: Lang; t: Say; words: Words; format: Format };

const languageOf = (lang: Lang): Language => {
  const format = createFormat(lang);
  const t = sayIn(lang === 'zh' ? sentences : null, format.number);
  return { lang, t, words: lang === 'zh' ? zh : en, format };
};
export const languages: Record<Lang, Language> = { en: languageOf('en'), zh: languageOf('zh') };

/** By what the browser prefers; English where it says neither. `q=0` refuses a language. */
export function preferredLang(header: string | undefined): Lang {
  let best: { lang: Lang; weight: number } = { lang: 'en', weight: 0 };
  for (const part of (header ?? '').split(',')) {
    const [tag = '', ...rest] = part.trim().toLowerCase().split(';');
    const lang = /^zh\b/.test(tag) ? 'zh' : /^en\b/.test(tag) ? 'en' : null;
    const given = rest.join(';').trim();
    const weight = given === '' ? 1 : Number(/^q=([01](?:\.\d*)?)$/.exec(given)?.[1] ?? 0);
    if (lang !== null && weight > best.weight) best = { lang, weight };
  }
  return best.lang;
}

export type View = Language & {
  archive: Archive;
  project: ProjectId;
  /** Every project this reader may read. */
  projects: readonly ProjectId[];
  /** The project whose classes stand for the platform's list. */
  classesOf: (project: ProjectId) => ProjectId;
  /** The archive's time, by which deadlines are told. */
  now: Instant;
  /** The settings of this process; null: not for this reader. */
  settings: readonly SettingInForce[] | null;
  /** The page's own path, as a link leads to it, and what was asked of it. */
  path: string;
  query: URLSearchParams;
  isSignedIn: boolean;
};

/** A page as it was made. */
export type Made = {
  title: string;
  body: ComponentChildren;
  /** The same as JSON: an address of `/archive/v1`. */
  twin: string;
  /** It is shown again whenever something of the archive has changed. */
  isLive?: boolean;
  /** Its days are not UTC's. */
  isLocal?: boolean;
  status?: number;
  /** With status 303: whoever asked is sent on to this path. */
  location?: string;
};

/** Why a page cannot be shown; `sentence`: what was wrong with what was asked. */
export type Trouble =
  { kind: 'database' | 'busy' | 'unforeseen' } | { kind: 'invalid'; sentence: string };

/** A page: `read` gets what stands in its path. */
export type Page = {
  /** As Fastify writes it. */
  path: string;
  /** Its entry in the navigation. */
  nav: string;
  read(view: View, inPath: Record<string, string>): Promise<Made>;
};

/** Leads from a page, by its own path, to the first one: `./` or `../../`. */
export function rootFrom(path: string): string {
  const steps = path.split('/').length - 2;
  return steps === 0 ? './' : '../'.repeat(steps);
}

/** A link that keeps the project, where there are several to choose from. */
export function linkTo(
  view: Pick<View, 'projects' | 'project'>,
  path: string,
  query: Record<string, string | undefined> = {},
): string {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') asked.set(name, value);
  }
  if (view.projects.length > 1) asked.set('project', view.project);
  const text = asked.toString();
  return text === '' ? path : `${path}?${text}`;
}
