// The pages' links lead from the page itself, so that they keep the path of a reverse proxy.

/** A page's HTML with its links as paths of the server. That they lead there from the page is for `web.pg.test.ts`. */
export const withPaths = (html: string): string =>
  html.replaceAll(/ (href|src|action|data-live)="(?:\.\/|(?:\.\.\/)+)/g, ' $1="/');
