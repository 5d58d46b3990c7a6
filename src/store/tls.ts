// What can go wrong with TLS to the database, in sentences. What an address asks for is read in database-address.ts.
import { readFileSync } from 'node:fs';
import { certificateProblem } from '../certificate-errors.ts';
import { certificateFilesOf } from '../database-address.ts';
import { codeOf, isOutlastError, settingsError, type OutlastError } from '../errors.ts';

/**
 * Reads them once before pg does, which names none that it cannot read. Throws settings `database_certificate_file`.
 */
export function checkTlsFiles(connectionString: string): void {
  for (const path of certificateFilesOf(connectionString)) {
    try {
      readFileSync(path);
    } catch (error) {
      throw unreadableFile(path, error);
    }
  }
}

const unreadableFile = (path: string, error: unknown): OutlastError =>
  settingsError(
    'database_certificate_file',
    `A certificate file that DATABASE_URL names cannot be read (${codeOf(error)}): ${path}. Check its path and rights.`,
    error,
  );

/** pg gives it neither a code nor a class of its own. */
export const hasNoTls = (error: unknown): boolean =>
  error instanceof Error && error.message === 'The server does not support SSL connections';

/** The sentence where certificates are why there is no connection; null for anything else. */
export function tlsError(error: unknown): OutlastError | null {
  if (isOutlastError(error)) return null;
  if (hasNoTls(error)) {
    return settingsError(
      'database_tls_missing',
      'DATABASE_URL asks for TLS and the server has none. (Where it names no sslmode, PGSSLMODE asks for it.) Turn it on there (ssl = on), or write sslmode=disable into DATABASE_URL where the way to it is safe by itself.',
      error,
    );
  }
  const { path, syscall } = error as { path?: unknown; syscall?: unknown };
  const code = codeOf(error) ?? '';
  if (typeof path === 'string' && (syscall === 'open' || syscall === 'read')) {
    return unreadableFile(path, error);
  }
  const problem = certificateProblem(code, advice);
  if (problem !== null) {
    return settingsError(
      'database_certificate',
      `The certificate of the database is not accepted ${problem}.`,
      error,
    );
  }
  if (!/^(?:ERR_SSL|ERR_OSSL|ERR_TLS|EPROTO|CERT_|UNABLE_TO)/.test(code)) return null;
  return settingsError(
    'database_certificate',
    `There is no TLS connection to the database (${code}). Check sslcert, sslkey and sslrootcert in DATABASE_URL.`,
    error,
  );
}

const advice = {
  authority: 'Name its certificate with sslrootcert in DATABASE_URL',
  host: 'Use the name that stands in it in DATABASE_URL; sslmode=verify-ca does not compare names',
};
