// What is shown where a page cannot be: the reason in a sentence, and what to do; and the form to sign in.
import { Said } from '../layout.tsx';
import { Documents } from '../parts.tsx';
import { linkTo, type Made, type Trouble, type View } from '../view.ts';

const troubles = {
  database:
    'The archive’s database does not answer. Nothing that is held is harmed by that, and nothing has to be done for the page: it shows the archive again as soon as the database answers.',
  busy: 'This took too long and was given up. Ask for fewer days.',
  unforeseen: 'Something went wrong that nobody foresaw. It is in the service’s log.',
} as const;

export function troublePage(view: View, trouble: Trouble): Made {
  const { t, path, query } = view;
  const { kind } = trouble;
  const title =
    kind === 'invalid' ? t('This cannot be asked') : t('This cannot be shown at the moment');
  return {
    title,
    status: kind === 'invalid' ? 400 : kind === 'unforeseen' ? 500 : 503,
    twin: '/archive/v1',
    body: (
      <>
        <h1>{title}</h1>
        <p class="notice" role="alert">
          {trouble.kind === 'invalid' ? (
            <Said text={trouble.sentence} lang="en" />
          ) : (
            t(troubles[trouble.kind])
          )}
        </p>
        {kind !== 'invalid' && (
          <p>
            <a href={query.size === 0 ? path : `${path}?${query.toString()}`}>{t('Try again')}</a>
          </p>
        )}
      </>
    ),
  };
}

export function notFoundPage(
  view: View,
  sentence: string = view.t('There is no such page.'),
): Made {
  return {
    title: sentence,
    status: 404,
    twin: '/archive/v1',
    body: (
      <>
        <h1>{sentence}</h1>
        <p>
          <a href={linkTo(view, '/')}>{view.t('Overview')}</a>
        </p>
      </>
    ),
  };
}

export function whichProjectPage(view: View, isForbidden: boolean): Made {
  const { t, projects } = view;
  return {
    title: t('Which project?'),
    status: isForbidden ? 403 : 200,
    twin: '/archive/v1/projects',
    body: (
      <>
        <h1>{t('Which project?')}</h1>
        {isForbidden && <p class="notice">{t('You may not read this project.')}</p>}
        <ul>
          {projects.map((project) => (
            <li>
              <a href={`/?${new URLSearchParams({ project }).toString()}`}>{project}</a>
            </li>
          ))}
        </ul>
      </>
    ),
  };
}

/** A key that opens nothing, too many of them, or a form of another page. */
const wrongs = {
  wrong: 'This key opens nothing here.',
  tooMany: 'Too many wrong keys: wait a minute and try again.',
  foreign: 'This form did not come from this page: open it again, and sign in there.',
} as const;
export type SignInTrouble = keyof typeof wrongs;

export function signInPage(view: View, wrong: SignInTrouble | null): Made {
  const { t, query } = view;
  const to = query.get('to');
  const action = to === null ? '/sign-in' : `/sign-in?${new URLSearchParams({ to }).toString()}`;
  return {
    title: t('Sign in'),
    status: wrong === null ? 200 : wrong === 'tooMany' ? 429 : 403,
    twin: '/archive/v1',
    body: (
      <>
        <h1>{t('Sign in')}</h1>
        <p>{t('This archive is reached over a network, so that a key is needed.')}</p>
        {wrong !== null && (
          <p class="notice" role="alert">
            {t(wrongs[wrong])}
          </p>
        )}
        <form class="filter" method="post" action={action}>
          <div>
            <label for="key">{t('Bearer key')}</label>
            <input id="key" name="key" type="password" autocomplete="current-password" required />
          </div>
          <button>{t('Sign in')}</button>
        </form>
        <p class="soft">{t('Whoever runs the service can make one: see “Bearer keys”.')}</p>
        <Documents view={view} names={['http']} />
      </>
    ),
  };
}
