// The paths of `/openapi.json` that are read, filled in: so that no new route is forgotten by those who ask all of them.
import type { Document, OpenApiOperation } from '../../src/http/docs/openapi.ts';

type DocumentPath = { path: string; operation: OpenApiOperation };

type PathValues = {
  id: string | ((list: string) => string);
  day: string;
  month: string;
  sha256: string;
};

export const filledWith = (path: string, { id, day, month, sha256 }: PathValues): string =>
  path
    .replace('{resource}/{sha256}', `orders/${sha256}`)
    .replace('{resource}/{day}', `orders/${day}`)
    .replace('{resource}/{month}', `orders/${month}`)
    .replace(
      /([a-z_]+)\/\{\w+\}/,
      (_, list: string) => `${list}/${encodeURIComponent(typeof id === 'string' ? id : id(list))}`,
    );

/** What can be read below `/archive/v1`. */
export const archivePaths = (
  { paths }: Document,
  values: Partial<PathValues> = {},
): DocumentPath[] =>
  Object.entries(paths).flatMap(([path, { get: operation }]) =>
    operation === undefined || !path.startsWith('/archive/')
      ? []
      : [
          {
            path: filledWith(path, {
              id: 'op-1',
              day: '2026-03-05',
              month: '2026-02',
              sha256: 'a'.repeat(64),
              ...values,
            }),
            operation,
          },
        ],
  );
