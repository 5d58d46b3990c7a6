// How DATABASE_URL asks for TLS: as libpq reads it, so that an address that psql takes means the same here. The
// parameters are those of PostgreSQL's manual, "SSL Support" of libpq.
import { codeOf, isOutlastError, settingsError, type OutlastError } from '../errors.ts';

/** What libpq knows, weakest first: `require` encrypts and checks nothing, `verify-full` checks who answers. */
const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type Mode = (typeof modes)[number];

const parameters = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const;

/** Whether plain text is as good where the server has no TLS. */
export const isOptional = (connectionString: string): boolean =>
  ['allow', 'prefer'].includes(modeOf(new URL(connectionString)) ?? '');

export function withoutTls(connectionString: string): string {
  const address = new URL(connectionString);
  for (const name of parameters) address.searchParams.delete(name);
  return address.href;
}

/**
 * The address as pg is to have it: left to itself it checks certificates in every mode. Throws settings
 * `database_tls_mode` and `database_certificate_file`.
 */
export function readAsLibpq(connectionString: string): string {
  if (!URL.canParse(connectionString)) return connectionString;
  const address = new URL(connectionString);
  const { searchParams: given } = address;
  if (!parameters.some((name) => given.has(name))) return connectionString;
  const mode = modeOf(address);
  if (given.get('sslrootcert') === 'system') {
    given.delete('sslrootcert');
    given.set('sslmode', 'verify-full');
  } else if (mode === 'verify-ca' && !given.has('sslrootcert')) {
    throw settingsError(
      'database_tls_mode',
      'DATABASE_URL asks for sslmode=verify-ca and names no sslrootcert: name the file of the authority that signed the server’s certificate, or ask for verify-full.',
    );
  } else if (mode === 'allow') given.set('sslmode', 'prefer');
  given.set('uselibpqcompat', 'true');
  return address.href;
}

function modeOf({ searchParams }: URL): Mode | null {
  const text = searchParams.get('sslmode');
  if (text === null) return null;
  const mode = modes.find((one) => one === text);
  if (mode !== undefined) return mode;
  throw settingsError(
    'database_tls_mode',
    `DATABASE_URL asks for an sslmode that there is none of: give one of ${modes.join(', ')}.`,
  );
}

/** pg gives it neither a code nor a class of its own. */
export const hasNoTls = (error: unknown): boolean =>
  error instanceof Error && error.message === 'The server does not support SSL connections';

/** The sentence where certificates are why there is no connection; null for anything else. */
export function tlsError(error: unknown): OutlastError | null {
  if (isOutlastError(error)) return null;
  if (hasNoTls(error)) {
    return settingsError(
      'database_tls_missing',
      'DATABASE_URL asks for TLS and the server has none. Turn it on there (ssl = on), or ask for sslmode=disable where the way to it is safe by itself.',
      error,
    );
  }
  const { path, syscall } = error as { path?: unknown; syscall?: unknown };
  const code = codeOf(error) ?? '';
  if (typeof path === 'string' && (syscall === 'open' || syscall === 'read')) {
    return settingsError(
      'database_certificate_file',
      `A certificate file that DATABASE_URL names cannot be read (${code}): ${path}. Check its path and rights.`,
      error,
    );
  }
  const reason = reasons[code];
  if (reason !== undefined) {
    return settingsError(
      'database_certificate',
      `The certificate of the database is not accepted (${code}): ${reason}.`,
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

const unknownAuthority =
  'no authority that is known here has signed it. Name its certificate with sslrootcert in DATABASE_URL';

/** Codes of OpenSSL's verification, as node gives them. */
const reasons: Readonly<Record<string, string>> = {
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  CERT_HAS_EXPIRED:
    'it has expired. Renew it on the server, or set the clock of this machine right',
  CERT_NOT_YET_VALID: 'it is not valid yet. Set the clock of this machine right',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'it was made out to another host. Use the name that stands in it in DATABASE_URL; sslmode=verify-ca does not compare names',
};
