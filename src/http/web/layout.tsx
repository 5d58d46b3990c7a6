// What stands around every page: the way to the others, the project, the language, and what the page is as JSON.
import { renderToString } from 'preact-render-to-string';
import { linkTo, rootFrom, type Made, type View } from './view.ts';
import type { Words } from './words.ts';

const places: readonly [keyof Words['nav'], string][] = [
  ['overview', '/'],
  ['orders', '/orders'],
  ['nft_classes', '/nft_classes'],
  ['transactions', '/transactions'],
  ['tokens', '/tokens'],
  ['figures', '/figures'],
  ['runs', '/runs'],
  ['alerts', '/alerts'],
  ['certificates', '/certificates'],
  ['facts', '/facts'],
  ['settings', '/settings'],
];

export function pageText(view: View, nav: keyof Words['nav'] | null, made: Made): string {
  const { words, lang } = view;
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
        {made.hasCharts === true && <script src="/web/chart.js" defer />}
        {made.hasCharts === true && <script src="/web/charts.js" type="module" />}
        <script src="/web/page.js" type="module" />
      </head>
      <body data-live={made.isLive === true ? linkTo(view, '/archive/v1/events') : undefined}>
        <a class="skip" href="#content">
          {words.skip}
        </a>
        <header>
          <strong>
            <a href={linkTo(view, '/')}>Outlast</a>
          </strong>
          <nav aria-label={words.nav.label}>
            {places.map(([name, path]) => (
              <a href={linkTo(view, path)} aria-current={name === nav ? 'page' : undefined}>
                {words.nav[name]}
              </a>
            ))}
          </nav>
          <Tools view={view} />
        </header>
        <main id="content" tabIndex={-1}>
          {made.body}
        </main>
        <footer>
          <span>{words.utc}</span>
          <a href={made.twin}>{words.json}</a>
          <a href="/docs">{words.nav.docs}</a>
          <span id="connection" hidden data-stale={words.stale} role="status" />
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

function Tools({ view }: { view: View }) {
  const { words, projects, project, path, query } = view;
  const otherLang = new URLSearchParams(query);
  otherLang.set('lang', view.lang === 'zh' ? 'en' : 'zh');
  return (
    <div class="tools">
      {projects.length > 1 && (
        <form action={path} method="get">
          <label>
            <span class="soft">{words.project} </span>
            <select name="project">
              {projects.map((one) => (
                <option selected={one === project}>{one}</option>
              ))}
            </select>
          </label>{' '}
          <button>{words.choose}</button>
        </form>
      )}
      <a href={`${path}?${otherLang.toString()}`} lang={view.lang === 'zh' ? 'en' : 'zh-CN'}>
        {words.other}
      </a>
      {view.isSignedIn && (
        <form action="/sign-out" method="post">
          <button>{words.signOut}</button>
        </form>
      )}
    </div>
  );
}

/**
 * Foreign text: whatever its direction, what stands beside it stays where it is. `lang`: the archive's own words are
 * English on a Chinese page too; the platform's may be of any language.
 */
export const Foreign = ({ text, lang }: { text: string | null; lang?: 'en' }) => (
  <bdi lang={lang}>{text ?? ''}</bdi>
);
