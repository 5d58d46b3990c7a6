// How the address of a PostgreSQL database is read: as libpq reads it, so that one that psql takes means the same here.
// What it asks for and nobody here would heed is refused: left out in silence, it might have been what kept the way safe.
// The parameters are those of PostgreSQL's manual, "Parameter Key Words" of libpq. store/pg-client.ts makes a connection of it.
/** Or what gives it anew for each connection, for its password may have been rotated since. */
export type DatabaseAddress = string | (() => string);

export const currentAddress = (address: DatabaseAddress): string =>
  typeof address === 'string' ? address : address();

/** `require` encrypts and checks nothing, `verify-full` checks who answers. */
const values: Readonly<Record<string, readonly string[]>> = {
  sslmode: ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'],
  channel_binding: ['disable', 'prefer', 'require'],
  sslnegotiation: ['postgres', 'direct'],
};

const ofTls = ['sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation', 'channel_binding'];
export const heeded = ['sslmode', ...ofTls, 'host', 'port', 'user', 'password', 'options'];

/**
 * Nothing is lost without them: Outlast has time-outs and an encoding of its own, uses no GSS, and looks itself whether
 * the server takes writing. The last are not libpq's, but in addresses that providers write for other clients.
 */
const needless = `
  application_name fallback_application_name client_encoding connect_timeout tcp_user_timeout
  keepalives keepalives_idle keepalives_interval keepalives_count
  gssencmode=disable gssencmode=prefer target_session_attrs=any target_session_attrs=read-write
  uselibpqcompat=true pgbouncer connection_limit pool_timeout schema supa
`.split(/\s+/);

/**
 * libpq takes a user without a host, as `postgres://user@/database?host=/run/postgresql`; `URL` does not, and passes
 * over blanks around an address.
 */
export function urlOf(connectionString: string): URL | null {
  const text = URL.canParse(connectionString)
    ? connectionString
    : connectionString.replace('@/', '@localhost/');
  return /^\s*postgres(ql)?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : null;
}

const form =
  'is no PostgreSQL address: it has the form postgres://user:password@host:5432/database, with @ : / ? # % in the password written as %40 %3A %2F %3F %23 %25';

const severalHosts =
  'names several hosts, and Outlast takes one: give a name or a proxy that always leads to the primary';

/** What is wrong with it: ends of sentences that begin with the setting's name, without a value of it (P10). */
export function mistakesIn(connectionString: string): string[] {
  const url = urlOf(connectionString);
  const [, host = ''] = /^\s*\w+:\/\/(?:[^/]*@)?([^/?#]*)/.exec(connectionString) ?? [];
  if (`${host}${url?.searchParams.get('host') ?? ''}`.includes(',')) return [severalHosts];
  if (url === null) return [form];
  try {
    decodeURIComponent(connectionString);
  } catch {
    return ['has a % that no code of a character follows: in a password it is written %25'];
  }
  const { searchParams: given, pathname, search, hash } = url;
  // The rest of a password that holds a / ? or #: it would pass for a database, or for the name of a parameter.
  if (`${pathname}${search}${hash}`.includes('@')) {
    return ['has an @ behind its host: in a password @ / ? # are written %40 %2F %3F %23'];
  }
  const mistakes = [...given].flatMap(([name, value]) => mistakeIn(name, value) ?? []);
  if (given.get('sslmode') === 'verify-ca' && !given.get('sslrootcert')) {
    mistakes.push(
      'asks for sslmode=verify-ca and names no sslrootcert: name the file of the authority that signed the server’s certificate, or ask for verify-full',
    );
  }
  return mistakes;
}

function mistakeIn(name: string, value: string): string | null {
  const known = values[name];
  if (known?.includes(value) === false) {
    return `asks for an unknown ${name}: give one of ${known.join(', ')}`;
  }
  if ([...heeded, 'ssl=true', ...needless].some((one) => [name, `${name}=${value}`].includes(one)))
    return null;
  const printable = /^\w{1,40}$/.test(name) ? name : 'with a strange name';
  const advice = /ssl|tls/i.test(name)
    ? 'TLS is asked for by sslmode, sslrootcert, sslcert and sslkey'
    : 'take it out';
  return `has a parameter that Outlast does not know, ${printable}: ${advice}`;
}

/**
 * The address with the password, and with what libpq takes from the environment where an address leaves it out; libpq's
 * other variables have no effect.
 */
export function withPgVariables(
  connectionString: string,
  variable: (name: string) => string | null,
  password: string | null = null,
): string {
  const url = urlOf(connectionString);
  if (url === null) return connectionString;
  const { searchParams: given, href } = url;
  // The setter leaves a few characters alone that pg would read as percent-escapes.
  if (password !== null) url.password = encodeURIComponent(password);
  // PGUSER, PGSSLMODE, PGCHANNELBINDING.
  const fill = (name: string): void => {
    const value = variable(`PG${name.toUpperCase().replace('_', '')}`);
    if (value !== null && !given.has(name)) given.set(name, value);
  };
  if (url.hostname === '' || !URL.canParse(connectionString)) fill('host');
  if (url.port === '') fill('port');
  if (url.username === '') fill('user');
  if (url.password === '') fill('password');
  if (url.pathname.length < 2) url.pathname = encodeURIComponent(variable('PGDATABASE') ?? '');
  if (!given.has('ssl')) fill('sslmode');
  if (![null, 'disable'].includes(given.get('sslmode'))) ofTls.forEach(fill);
  return url.href === href ? connectionString : url.href;
}
