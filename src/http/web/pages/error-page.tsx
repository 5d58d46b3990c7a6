// What is shown where a page cannot be: the reason in a sentence, and what to do; and the form to sign in.
import { Said } from '../layout.tsx';
import { Documents } from '../parts.tsx';
import { linkTo, type Made, type Trouble, type View } from '../view.ts';

export function troublePage(view: View, trouble: Trouble): Made {
  const { words, path, query } = view;
  const { kind } = trouble;
  const title = kind === 'invalid' ? words.trouble.refused : words.trouble.title;
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
            words.trouble[trouble.kind]
          )}
        </p>
        {kind !== 'invalid' && (
          <p>
            <a href={query.size === 0 ? path : `${path}?${query.toString()}`}>
              {words.trouble.again}
            </a>
          </p>
        )}
      </>
    ),
  };
}

export function notFoundPage(view: View, sentence: string = view.words.trouble.notFound): Made {
  return {
    title: sentence,
    status: 404,
    twin: '/archive/v1',
    body: (
      <>
        <h1>{sentence}</h1>
        <p>
          <a href={linkTo(view, '/')}>{view.words.nav.overview}</a>
        </p>
      </>
    ),
  };
}

export function whichProjectPage(view: View, isForbidden: boolean): Made {
  const { words, projects } = view;
  return {
    title: words.trouble.whichProject,
    status: isForbidden ? 403 : 200,
    twin: '/archive/v1/projects',
    body: (
      <>
        <h1>{words.trouble.whichProject}</h1>
        {isForbidden && <p class="notice">{words.trouble.forbidden}</p>}
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
export type SignInTrouble = 'wrong' | 'tooMany' | 'foreign';

export function signInPage(view: View, wrong: SignInTrouble | null): Made {
  const { words, query } = view;
  const to = query.get('to');
  const action = to === null ? '/sign-in' : `/sign-in?${new URLSearchParams({ to }).toString()}`;
  return {
    title: words.signIn.title,
    status: wrong === null ? 200 : wrong === 'tooMany' ? 429 : 403,
    twin: '/archive/v1',
    body: (
      <>
        <h1>{words.signIn.title}</h1>
        <p>{words.signIn.about}</p>
        {wrong !== null && (
          <p class="notice" role="alert">
            {words.signIn[wrong]}
          </p>
        )}
        <form class="filter" method="post" action={action}>
          <div>
            <label for="key">{words.signIn.key}</label>
            <input id="key" name="key" type="password" autocomplete="current-password" required />
          </div>
          <button>{words.signIn.title}</button>
        </form>
        <p class="soft">{words.signIn.how}</p>
        <Documents view={view} names={['http']} />
      </>
    ),
  };
}
