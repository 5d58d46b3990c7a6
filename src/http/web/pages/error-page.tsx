// What is shown where a page cannot be: the reason in a sentence, and what to do; and the form to sign in.
import type { ComponentChildren } from 'preact';
import { Documents, Said } from '../parts.tsx';
import { linkTo, type Made, type Trouble, type View } from '../view.ts';

const message = (
  title: string,
  status: number,
  rest: ComponentChildren,
  twin = '/archive/v1',
): Made => ({
  title,
  status,
  twin,
  body: (
    <>
      <h1>{title}</h1>
      {rest}
    </>
  ),
});

const alarm = (sentence: ComponentChildren) => (
  <p class="notice" role="alert">
    {sentence}
  </p>
);

const troubles = {
  database:
    'The archive’s database does not answer. Nothing that is held is harmed by that, and nothing has to be done for the page: it shows the archive again as soon as the database answers.',
  busy: 'This took too long and was given up. Ask for fewer days.',
  unforeseen: 'Something went wrong that nobody foresaw. It is in the service’s log.',
} as const;

export function troublePage({ t, path, query }: View, trouble: Trouble): Made {
  if (trouble.kind === 'invalid') {
    const said = <Said text={trouble.sentence} lang="en" />;
    return message(t('This cannot be asked'), 400, alarm(said));
  }
  return message(
    t('This cannot be shown at the moment'),
    trouble.kind === 'unforeseen' ? 500 : 503,
    <>
      {alarm(t(troubles[trouble.kind]))}
      <p>
        <a href={query.size === 0 ? path : `${path}?${query.toString()}`}>{t('Try again')}</a>
      </p>
    </>,
  );
}

export const notFoundPage = (
  view: View,
  sentence: string = view.t('There is no such page.'),
): Made =>
  message(
    sentence,
    404,
    <p>
      <a href={linkTo(view, '/')}>{view.t('Overview')}</a>
    </p>,
  );

export const whichProjectPage = ({ t, projects }: View, isForbidden: boolean): Made =>
  message(
    t('Which project?'),
    isForbidden ? 403 : 200,
    <>
      {isForbidden && <p class="notice">{t('You may not read this project.')}</p>}
      <ul>
        {projects.map((project) => (
          <li>
            <a href={`/?${new URLSearchParams({ project }).toString()}`}>{project}</a>
          </li>
        ))}
      </ul>
    </>,
    '/archive/v1/projects',
  );

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
  return message(
    t('Sign in'),
    wrong === null ? 200 : wrong === 'tooMany' ? 429 : 403,
    <>
      <p>{t('This archive is reached over a network, so that a key is needed.')}</p>
      {wrong !== null && alarm(t(wrongs[wrong]))}
      <form
        class="filter"
        method="post"
        action={to === null ? '/sign-in' : `/sign-in?${new URLSearchParams({ to }).toString()}`}
      >
        <div>
          <label for="key">{t('Bearer key')}</label>
          <input id="key" name="key" type="password" autocomplete="current-password" required />
        </div>
        <button>{t('Sign in')}</button>
      </form>
      <p class="soft">{t('Whoever runs the service can make one: see “Bearer keys”.')}</p>
      <Documents view={view} names={['http']} />
    </>,
  );
}
