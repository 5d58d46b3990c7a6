// The web pages: who asks is let in, the page is read through the library and made here, as HTML that needs no script.
// A script of our own only adds to it: the arrow keys, what has changed meanwhile. Nothing comes from elsewhere and
// nothing inline is run (Content-Security-Policy).
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { codeOf, isOutlastError } from '../../errors.ts';
import { createSemaphore, type Semaphore } from '../../semaphore.ts';
import { lists } from '../../query/lists.ts';
import { Refused, sentenceOf } from '../http-answers.ts';
import { askedBy, openedTo, type Opened } from '../access.ts';
import { settingsFor, type ServerContext } from '../server-context.ts';
import { addFiles } from './assets.ts';
import { pageText } from './layout.tsx';
import { cookieName, cookieOf, createThrottle, sessionMs } from './session.ts';
import {
  notFoundPage,
  signInPage,
  troublePage,
  whichProjectPage,
  type SignInTrouble,
} from './pages/error-page.tsx';
import {
  languages,
  preferredLang,
  rootFrom,
  type Made,
  type Page,
  type Trouble,
  type View,
} from './view.ts';
import type { Lang } from './words.ts';
import { alertsPage } from './pages/alerts-page.tsx';
import { dayPage } from './pages/day-page.tsx';
import { figuresPage } from './pages/figures-page.tsx';
import { overviewPage } from './pages/overview-page.tsx';
import { listPages } from './pages/row-page.tsx';
import { settingsPage } from './pages/settings-page.tsx';

const byHand: readonly Page[] = [overviewPage, dayPage, figuresPage, alertsPage, settingsPage];

/** Every page there is: a list and its rows as the catalogue says them, but for those made by hand. */
export const pages: readonly Page[] = [
  ...byHand,
  ...lists.flatMap(listPages).filter(({ path }) => byHand.every((page) => page.path !== path)),
];

const pagePolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const headers = {
  'cache-control': 'private, no-store',
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': pagePolicy,
  'x-content-type-options': 'nosniff',
  // With none at all, a browser would not say either whose form it sends.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  vary: 'Accept-Language, Cookie',
};

const langCookie = 'outlast_lang';

/** Each takes connections, and holds a page of records whole. */
const pagesAtOnce = 4;

type Web = { answerNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply };

export function addWeb(app: FastifyInstance, serving: ServerContext): Web {
  addFiles(app);
  const limited = createSemaphore(pagesAtOnce);
  for (const page of pages) {
    app.get(page.path, (request, reply) => answer(page, serving, limited, request, reply));
  }
  addSigning(app, serving);
  return {
    answerNotFound: (request, reply) => {
      const view = viewOf(serving, request, reply);
      return send(reply, view, null, notFoundPage(view));
    },
  };
}

async function answer(
  page: Page,
  serving: ServerContext,
  limited: Semaphore,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const view = viewOf(serving, request, reply);
  let made: Made;
  try {
    const opened = openedBy(serving, request);
    view.projects = opened.projects.toSorted();
    view.settings = settingsFor(serving, opened.projects);
    view.isSignedIn = serving.sessions.openedBy(request.headers, serving.now()) !== null;
    const asked = view.query.get('project');
    const project = asked ?? view.projects[0];
    if (project === undefined || !view.projects.includes(project)) {
      made = whichProjectPage(view, asked !== null);
    } else {
      view.project = project;
      view.now = serving.timeOf(project);
      // A place is for reading only: however slowly a page is taken, it keeps nobody from theirs.
      made = await limited(() => page.read(view, request.params as Record<string, string>));
    }
  } catch (error) {
    if (needsKey(error)) {
      return reply.code(303).headers(headers).header('location', signInAddress(view)).send('');
    }
    const trouble = troubleOf(error, serving);
    // The page keeps its word: it is asked for again until it can be shown.
    if (trouble.kind === 'database') void reply.header('refresh', '5');
    made = troublePage(view, trouble);
  }
  return send(reply, view, page.nav, made);
}

function send(reply: FastifyReply, view: View, nav: Page['nav'] | null, made: Made): FastifyReply {
  const location = made.location?.replace('/', rootFrom(view.path));
  return reply
    .code(made.status ?? 200)
    .headers({ ...headers, ...(location === undefined ? {} : { location }) })
    .send(pageText(view, nav, made));
}

function viewOf(
  { archiveOfV1: archive, classesOf, now }: ServerContext,
  request: FastifyRequest,
  reply: FastifyReply,
): View {
  const [path = '/', search = ''] = (request.raw.url ?? '/').split('?', 2);
  const query = new URLSearchParams(search);
  const lang = langOf(query, request, reply);
  query.delete('lang');
  return {
    ...languages[lang],
    archive,
    classesOf,
    project: '',
    projects: [],
    now: now(),
    settings: null,
    // As it was routed: a proxy may have added a slash.
    path: path.replaceAll(/\/{2,}/g, '/'),
    query,
    isSignedIn: false,
  };
}

/** As it was last chosen, or as the browser prefers. */
function langOf(query: URLSearchParams, request: FastifyRequest, reply: FastifyReply): Lang {
  const chosen = query.get('lang');
  if (chosen === 'en' || chosen === 'zh') {
    void reply.header(
      'set-cookie',
      `${langCookie}=${chosen}; Path=/; SameSite=Lax; Max-Age=31536000`,
    );
    return chosen;
  }
  const kept = cookieOf(request.headers, langCookie);
  return kept === 'en' || kept === 'zh' ? kept : preferredLang(request.headers['accept-language']);
}

/** By the cookie of somebody who signed in, or as for `/archive/v1`. Throws `Refused`. */
function openedBy({ sessions, gate, now }: ServerContext, request: FastifyRequest): Opened {
  const { 'sec-fetch-site': _site, ...others } = request.headers;
  // Somebody followed a link: the page that led here sees nothing of what is shown.
  const isLed = others['sec-fetch-mode'] === 'navigate' && others['sec-fetch-dest'] === 'document';
  const asked = isLed ? others : request.headers;
  return (
    sessions.openedBy(asked, now()) ??
    openedTo(gate, { ...askedBy(request, now()), headers: asked })
  );
}

const needsKey = (error: unknown): boolean =>
  error instanceof Refused && (error.answer.status === 401 || error.answer.status === 403);

/** Back to this page afterwards. */
const signInAddress = ({ path, query }: View): string => {
  const to = query.size === 0 ? path : `${path}?${query.toString()}`;
  return `${rootFrom(path)}sign-in?${new URLSearchParams({ to }).toString()}`;
};

function troubleOf(error: unknown, { answerOf }: ServerContext): Trouble {
  const sentence = sentenceOf(error);
  if (sentence !== null) return { kind: 'invalid', sentence };
  // The log hears of it as of any other answer.
  answerOf(error);
  if (isOutlastError(error, 'query_timed_out')) return { kind: 'busy' };
  return { kind: String(codeOf(error)).startsWith('database_') ? 'database' : 'unforeseen' };
}

/** Signing in and out. A form of another site's page gets nowhere: the browser says whose it is. */
function addSigning(app: FastifyInstance, serving: ServerContext): void {
  const { sessions, now } = serving;
  const throttle = createThrottle();
  const isOurs = ({ headers: { origin, host }, headers: all }: FastifyRequest): boolean =>
    // Behind a proxy the Host may be another than the browser's: its own word comes first.
    all['sec-fetch-site'] === undefined
      ? origin === undefined || origin.replace(/^https?:\/\//, '') === host
      : all['sec-fetch-site'] === 'same-origin';
  const cookie = (request: FastifyRequest, value: string, maxAge: number): string => {
    const isSecure = request.headers['x-forwarded-proto'] === 'https' ? '; Secure' : '';
    // Without a Path it is sent to whatever lies beside this page: all of ours and, on a host that a proxy shares out by
    // paths, nobody else's. Lax: a link in a chat or a mail leads a signed-in reader to its page; the cookie opens
    // nothing that writes.
    return `${cookieName}=${value}; HttpOnly; SameSite=Lax; Max-Age=${maxAge}${isSecure}`;
  };
  const show = (
    request: FastifyRequest,
    reply: FastifyReply,
    wrong: SignInTrouble | null,
  ): FastifyReply => {
    const view = viewOf(serving, request, reply);
    return send(reply, view, null, signInPage(view, wrong));
  };
  app.get('/sign-in', (request, reply) => show(request, reply, null));
  app.register((inner, _options, done) => {
    inner.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: 4096 },
      (_request, body, parsed) => parsed(null, new URLSearchParams(String(body))),
    );
    inner.post('/sign-in', (request, reply) => {
      if (!isOurs(request)) return show(request, reply, 'foreign');
      const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
      const value = sessions.begin((form.get('key') ?? '').trim(), now());
      // A right key opens in any case: nobody can keep its owner out by guessing.
      if (value === null) {
        const isFull = throttle.isFull(request.ip, now());
        throttle.add(request.ip, now());
        return show(request, reply, isFull ? 'tooMany' : 'wrong');
      }
      const to = new URLSearchParams(request.raw.url?.split('?', 2)[1] ?? '').get('to') ?? '/';
      return reply
        .code(303)
        .header('set-cookie', cookie(request, value, sessionMs / 1000))
        .header('location', `.${ownPath(to)}`)
        .send('');
    });
    inner.post('/sign-out', (request, reply) =>
      reply
        .code(303)
        .header('set-cookie', isOurs(request) ? cookie(request, '', 0) : [])
        .header('location', './sign-in')
        .send(''),
    );
    done();
  });
}

/** A path of this server's, and no address that a link put there. */
const ownPath = (to: string): string => (/^\/(?![/\\])[\x21-\x7e]*$/.test(to) ? to : '/');
