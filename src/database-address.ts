// How the address of a PostgreSQL database is read: as libpq reads it, so that one that psql takes means the same here.
// What libpq would refuse is refused, and so is what it would heed and nobody here does: left out in silence, it might
// have been what kept the way safe. The parameters are those of PostgreSQL's manual, "Parameter Key Words" of libpq.
import { settingsError } from './errors.ts';

/** Or what gives it anew for each connection, for its password may have been rotated since. */
export type DatabaseAddress = string | (() => string);

export const currentAddress = (address: DatabaseAddress): string =>
  typeof address === 'string' ? address : address();

/** What libpq knows, weakest first: `require` encrypts and checks nothing, `verify-full` checks who answers. */
const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type Mode = (typeof modes)[number];

const words = (text: string): string[] => text.trim().split(/\s+/);

const ofTls = words('sslmode sslrootcert sslcert sslkey sslnegotiation');
const heeded = [
  ...ofTls,
  ...words(
    'ssl channel_binding host port user password options application_name fallback_application_name',
  ),
];

/** Nothing is lost without them: Outlast has time-outs and an encoding of its own, and uses no GSS and one host. */
const needless = words(`
  connect_timeout keepalives keepalives_idle keepalives_interval keepalives_count tcp_user_timeout
  client_encoding load_balance_hosts sslcompression sslkeylogfile krbsrvname gsslib gssdelegation
`);

/**
 * Not libpq's, but in addresses that providers hand out, and harmless: how another client pools, and where its own
 * tables are. `uselibpqcompat` is what pg advises to write, and what it is told in any case.
 */
const foreign = words('pgbouncer connection_limit pool_timeout schema supa uselibpqcompat');

/** With these values they ask for nothing that is not so anyway; Node takes no TLS before 1.2. */
const needlessAs: Readonly<Record<string, readonly string[]>> = {
  gssencmode: ['disable', 'prefer'],
  max_protocol_version: ['3.0', '3.2', 'latest'],
  min_protocol_version: ['3.0'],
  ssl_max_protocol_version: ['TLSv1.3'],
  ssl_min_protocol_version: ['TLSv1', 'TLSv1.1', 'TLSv1.2'],
  sslcertmode: ['allow'],
  sslsni: ['1'],
  target_session_attrs: ['any'],
};

/** libpq's as well; what to do about each instead. */
const unheeded: Readonly<Record<string, string>> = {
  dbname: 'write the name of the database after the host: …@host:5432/database',
  hostaddr: 'write it in the place of the host',
  passfile: 'set DATABASE_PASSWORD_FILE to a file that holds the password alone',
  target_session_attrs: 'name the host of the primary',
};
const alsoLibpqs = [
  ...Object.keys(needlessAs),
  ...Object.keys(unheeded),
  ...words('authtype replication require_auth requirepeer scram_client_key scram_server_key'),
  ...words('service servicefile sslcrl sslcrldir sslpassword'),
  ...words('oauth_client_id oauth_client_secret oauth_issuer oauth_scope'),
];

/** What is wrong with it: ends of sentences that begin with the setting's name, without a value of it (P10). */
export function mistakesIn(connectionString: string): string[] {
  const address = parsed(connectionString);
  if (address === null) return [];
  const { searchParams: given, search, hash } = address;
  // A password's own ? would begin the parameters, and its rest would pass for their names.
  if (`${search}${hash}`.includes('@')) {
    return ['has an @ behind a ?: in a password they are written %40 and %3F, elsewhere %40'];
  }
  const names = [...new Set(given.keys())];
  return [
    ...names.flatMap((name) => (given.getAll(name).length > 1 ? [`has ${name} twice`] : [])),
    ...names.flatMap((name) => mistakeOf(name, given.get(name) ?? '') ?? []),
    ...mistakesOfTls(given),
    ...(`${address.hostname}${given.get('host') ?? ''}`.includes(',')
      ? ['names several hosts: name the one that takes writing']
      : []),
  ];
}

function mistakeOf(name: string, value: string): string | null {
  if ([...heeded, ...needless, ...foreign].includes(name)) return null;
  if (needlessAs[name]?.includes(value) === true) return null;
  if (alsoLibpqs.includes(name)) {
    const only = needlessAs[name]?.at(-1);
    const otherwise = only === undefined ? 'take it out' : `take it out, or write ${name}=${only}`;
    return `asks for ${name}, which Outlast cannot hold to: ${unheeded[name] ?? otherwise}`;
  }
  const meant = [...heeded, ...needless, ...alsoLibpqs].find((one) => plain(one) === plain(name));
  const advice = meant === undefined ? 'take it out' : `write ${meant}`;
  return `has a parameter that PostgreSQL does not know, ${printable(name)}: ${advice}`;
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]/g, '');
const printable = (name: string): string =>
  /^\w{1,40}$/.test(name) ? name : 'with a strange name';

function mistakesOfTls(given: URLSearchParams): string[] {
  const value = (name: string): string => given.get(name) ?? '';
  const has = (name: string): boolean => value(name) !== '';
  const mode = modeOf(given);
  const found: string[] = [];
  const tell = (mistake: string): void => void found.push(mistake);
  if (given.has('sslmode') && mode === null) {
    tell(`asks for an sslmode that there is none of: give one of ${modes.join(', ')}`);
  }
  if (given.has('ssl') && (value('ssl') !== 'true' || given.has('sslmode'))) {
    tell('asks for TLS by ssl, which can only be ssl=true and stand alone: ask by sslmode');
  }
  if (mode === 'verify-ca' && !has('sslrootcert')) {
    tell(
      'asks for sslmode=verify-ca and names no sslrootcert: name the file of the authority that signed the server’s certificate, or ask for verify-full',
    );
  }
  if (has('sslcert') !== has('sslkey')) {
    tell('names only one of sslcert and sslkey: a certificate of your own needs both');
  }
  if (!['', 'disable', 'prefer', 'require'].includes(value('channel_binding'))) {
    tell('asks for a channel_binding that there is none of: give one of disable, prefer, require');
  }
  const negotiation = value('sslnegotiation');
  if (!['', 'postgres', 'direct'].includes(negotiation)) {
    tell('asks for an sslnegotiation that there is none of: give one of postgres, direct');
  } else if (
    negotiation === 'direct' &&
    !['require', 'verify-ca', 'verify-full'].includes(mode ?? '')
  ) {
    tell('asks for sslnegotiation=direct: that needs sslmode=require or stronger');
  }
  return found;
}

/** Null where there is none, or one that libpq does not know. */
const modeOf = (given: URLSearchParams): Mode | null =>
  modes.find((one) => one === given.get('sslmode')) ?? null;

/**
 * The address as pg is to have it: left to itself it checks certificates in every mode. Throws settings
 * `database_address`.
 */
export function readAsLibpq(connectionString: string): string {
  const [mistake] = mistakesIn(connectionString);
  if (mistake !== undefined) {
    throw settingsError('database_address', `DATABASE_URL ${mistake}.`);
  }
  if (!URL.canParse(connectionString)) return connectionString;
  const address = new URL(connectionString);
  const { searchParams: given } = address;
  const names = [...given.keys()];
  // pg would make something else of some of them.
  for (const name of names.filter((one) => !heeded.includes(one))) given.delete(name);
  if (given.get('ssl') === 'true') {
    given.delete('ssl');
    given.set('sslmode', 'require');
  }
  if (given.get('sslrootcert') === 'system') {
    given.delete('sslrootcert');
    given.set('sslmode', 'verify-full');
  } else if (modeOf(given) === 'allow') given.set('sslmode', 'prefer');
  if (ofTls.some((name) => given.has(name))) given.set('uselibpqcompat', 'true');
  return names.length === 0 ? connectionString : address.href;
}

/** Whether plain text is as good where the server has no TLS. Of an address that was read. */
export const isTlsOptional = (connectionString: string): boolean =>
  modeOf(new URL(connectionString).searchParams) === 'prefer';

/**
 * The address with what libpq takes from the environment where an address leaves it out; libpq's other variables have no
 * effect. Of an address that was read.
 */
export function withPgVariables(
  connectionString: string,
  variable: (name: string) => string | null,
): string {
  const address = new URL(connectionString);
  const { searchParams: given, href } = address;
  // PGUSER, PGSSLMODE, PGCHANNELBINDING.
  const fill = (name: string): void => {
    const value = variable(`PG${name.toUpperCase().replace('_', '')}`);
    if (value !== null && !given.has(name)) given.set(name, value);
  };
  if (address.hostname === '' && !given.has('host')) {
    address.hostname = (variable('PGHOST') ?? '').replaceAll(/[/:]/g, encodeURIComponent);
  }
  if (address.port === '') fill('port');
  if (address.username === '') fill('user');
  if (address.password === '') fill('password');
  if (address.pathname.length < 2) {
    address.pathname = encodeURIComponent(variable('PGDATABASE') ?? '');
  }
  const isSocket = /^(\/|%2f)/i.test(address.hostname || (given.get('host') ?? ''));
  if (!isSocket && !given.has('ssl')) fill('sslmode');
  if (!isSocket && ![null, 'disable'].includes(modeOf(given))) {
    for (const name of [...ofTls, 'channel_binding']) fill(name);
  }
  return address.href === href ? connectionString : address.href;
}

/** Whether a login that is not bound to TLS is to be refused. */
export const wantsChannelBinding = (connectionString: string): boolean =>
  parsed(connectionString)?.searchParams.get('channel_binding') === 'require';

export function withoutTls(connectionString: string): string {
  const address = new URL(connectionString);
  for (const name of ofTls) address.searchParams.delete(name);
  return address.href;
}

/** The files of certificates and keys that it names. */
export function certificateFilesOf(connectionString: string): string[] {
  const given = parsed(connectionString)?.searchParams;
  return ['sslrootcert', 'sslcert', 'sslkey'].flatMap((name) => given?.get(name) || []);
}

/** pg also takes an address with a user and without a host; null where nothing can be read. */
function parsed(connectionString: string): URL | null {
  const text = connectionString.replace('@/', '@none/');
  return URL.canParse(text) ? new URL(text) : null;
}
