// What stands around every page: the way to the others, the project, the language, and what the page is as JSON.
import { renderToString } from 'preact-render-to-string';
import { lists } from '../../query/lists.ts';
import { linkTo, rootFrom, type Made, type View } from './view.ts';

/** Pages that everybody looks at; the other lists are at the foot. */
const places = [
  'overview',
  'orders',
  'nft_classes',
  'transactions',
  'tokens',
  'figures',
  'runs',
  'alerts',
  'certificates',
  'facts',
  'settings',
];
const more = lists.map(({ name }) => name).filter((name) => !places.includes(name));

export function pageText(view: View, nav: string | null, made: Made): string {
  const { t, lang } = view;
  const page = (
    <html lang={lang === 'zh' ? 'zh-CN' : 'en'}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${made.title} · Outlast`}</title>
        <link rel="icon" href="/web/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/web/style.css" />
        <link rel="alternate" type="application/json" href={made.twin} />
        <script src="/web/page.js" type="module" />
      </head>
      <body data-live={made.isLive === true ? linkTo(view, '/archive/v1/events') : undefined}>
        <a class="skip" href="#content">
          {t('Skip to the content')}
        </a>
        <header>
          <strong>
            <a href={linkTo(view, '/')}>Outlast</a>
          </strong>
          <nav aria-label={t('Pages')}>
            <Places view={view} names={places} nav={nav} />
          </nav>
          <Tools view={view} />
        </header>
        <main id="content" tabIndex={-1}>
          {made.body}
        </main>
        <footer>
          <nav aria-label={t('More lists')}>
            <Places view={view} names={more} nav={nav} />
          </nav>
          {made.isLocal !== true && <span>{t('All days and times are UTC.')}</span>}
          <a href={made.twin}>{t('This page as JSON')}</a>
          <a href="/docs">{t('Interface')}</a>
          <span
            id="connection"
            hidden
            data-stale={t('no answer: this may be out of date')}
            role="status"
          />
        </footer>
      </body>
    </html>
  );
  // Written without the path that a reverse proxy puts before ours: relative, each link works below any. No text can
  // look like an attribute, for quotes in it are escaped.
  return `<!doctype html>${renderToString(page).replaceAll(
    / (href|src|action|data-live)="\//g,
    ` $1="${rootFrom(view.path)}`,
  )}`;
}

type Placed = { view: View; names: readonly string[]; nav: string | null };

function Places({ view, names, nav }: Placed) {
  const { t, words } = view;
  const own = { overview: t('Overview'), figures: t('Figures'), settings: t('Settings') };
  const titles: Record<string, string> = { ...words.lists, ...own };
  return names.map((name) => (
    <a
      href={linkTo(view, name === 'overview' ? '/' : `/${name}`)}
      aria-current={name === nav ? 'page' : undefined}
    >
      {titles[name]}
    </a>
  ));
}

function Tools({ view }: { view: View }) {
  const { t, projects, project, path, query } = view;
  const otherLang = new URLSearchParams(query);
  otherLang.set('lang', view.lang === 'zh' ? 'en' : 'zh');
  return (
    <div class="tools">
      {projects.length > 1 && (
        <form action={path} method="get">
          <label>
            <span class="soft">{t('Project')} </span>
            <select name="project">
              {projects.map((one) => (
                <option selected={one === project}>{one}</option>
              ))}
            </select>
          </label>{' '}
          <button>{t('Show')}</button>
        </form>
      )}
      <a href={`${path}?${otherLang.toString()}`} lang={view.lang === 'zh' ? 'en' : 'zh-CN'}>
        {view.lang === 'zh' ? 'English' : '中文'}
      </a>
      {view.isSignedIn && (
        <form action="/sign-out" method="post">
          <button>{t('Sign out')}</button>
        </form>
      )}
    </div>
  );
}
