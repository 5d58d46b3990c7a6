// Who may read over HTTP: the projects' own key pairs, and those of the readers file. It holds secrets, so that nobody
// else may be able to read it, and none of them is repeated in a message (P10).
import { statSync } from 'node:fs';
import * as z from 'zod';
import { causeChain, settingsError } from '../errors.ts';
import type { ReaderKey } from '../http/gate.ts';
import type { Settings } from '../settings/settings.ts';
import { readSmallFile } from '../settings/environment.ts';

const text = (what: string) => z.string(`${what} must be text`).min(1, `${what} must not be empty`);

const schema = z.array(
  z
    .strictObject({
      id: text('id'),
      secret: text('secret').optional(),
      bearer_sha256: z
        .string('bearer_sha256 must be text')
        .regex(
          /^[0-9a-f]{64}$/,
          'bearer_sha256 must be 64 lower-case hex digits, as sha256sum prints',
        )
        .optional(),
      projects: z.array(text('a project')).min(1, 'projects must name at least one'),
      watch: z.boolean('watch must be true or false').default(false),
    })
    .refine(
      ({ secret, bearer_sha256: bearer }) => secret !== undefined || bearer !== undefined,
      'needs a secret, a bearer_sha256, or both',
    ),
  'must be a list of readers',
);

/** Throws settings `readers_invalid` with what is wrong. */
export function readReaders({ projects, readersFile }: Settings): ReaderKey[] {
  const own = projects.map(({ id, apiKey, apiSecret }) => ({
    key: apiKey,
    secret: apiSecret,
    projects: [id],
    mayWatch: true,
  }));
  if (readersFile === null) return own;
  const known = new Set(projects.map(({ id }) => id));
  const readers = parse(readersFile);
  for (const [i, reader] of readers.entries()) {
    for (const project of reader.projects) {
      if (!known.has(project)) {
        throw invalid(readersFile, `[${i}].projects names "${project}", which is not configured`);
      }
    }
  }
  const keys = [
    ...own,
    ...readers.map(({ id, secret, bearer_sha256: bearerSha256, projects: of, watch }) => ({
      key: id,
      secret,
      bearerSha256,
      projects: of,
      mayWatch: watch,
    })),
  ];
  if (new Set(keys.map(({ key }) => key)).size < keys.length) {
    throw invalid(
      readersFile,
      'two readers have the same id, or one has the id of a project’s own key',
    );
  }
  const bearers = readers.flatMap(({ bearer_sha256: bearer }) => bearer ?? []);
  if (new Set(bearers).size < bearers.length) {
    throw invalid(
      readersFile,
      'two readers have the same bearer_sha256: give each a key of its own',
    );
  }
  return keys;
}

function parse(path: string): z.infer<typeof schema> {
  let content: unknown;
  try {
    // Windows has no such bits; there the folder's rights decide.
    if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
      throw new Error('others may read it: chmod 600 it');
    }
    content = JSON.parse(readSmallFile(path));
  } catch (error) {
    // A JSON error's message quotes what it could not read.
    throw invalid(path, error instanceof SyntaxError ? 'it is no JSON' : causeChain(error));
  }
  const parsed = schema.safeParse(content);
  if (parsed.success) return parsed.data;
  const mistakes = parsed.error.issues.map(({ path: at, message }) =>
    [at.length > 0 ? `[${at.join('].')}]` : '', message].join(' ').trim(),
  );
  throw invalid(path, mistakes.join('; '));
}

const invalid = (path: string, why: string): Error =>
  settingsError('readers_invalid', `OUTLAST_READERS_FILE ${path}: ${why}.`);
