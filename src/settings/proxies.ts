// The proxies that the environment names for HTTP, in the variables that curl and most others read. What undici's agent
// then finds in the process is made out here: it would take an empty variable, or one without a scheme, at its word.
import type { Environment } from './environment.ts';

const names = ['http_proxy', 'https_proxy', 'no_proxy'] as const;

/** By name, in lower case; only where a proxy is named at all. */
type Proxies = Partial<Record<(typeof names)[number], string>>;

/** No proxy leads to this machine itself. */
const ownHosts = ['localhost', '127.0.0.1', '[::1]'];

/** `own`: the process's variables, which come before those of a file, whatever their case. */
export function proxiesIn(env: Environment, own: Environment = env): Proxies {
  const valueOf = (name: string): string =>
    [own[name], own[name.toUpperCase()], env[name], env[name.toUpperCase()]].find(Boolean) ?? '';
  const [http, https] = [withScheme(valueOf('http_proxy')), withScheme(valueOf('https_proxy'))];
  if (http + https === '') return {};
  const none = valueOf('no_proxy')
    .split(/[,\s]+/)
    .filter(Boolean);
  return {
    ...(http === '' ? {} : { http_proxy: http }),
    // As undici has it.
    https_proxy: https || http,
    no_proxy: none.includes('*') ? '*' : [...new Set([...none, ...ownHosts])].join(','),
  };
}

const withScheme = (value: string): string =>
  value === '' || value.includes('://') ? value : `http://${value}`;

/** What is wrong with them, in sentences without their values, which may hold a password (P10). */
export function mistakesInProxies(proxies: Proxies): string[] {
  const { http_proxy: http, https_proxy: https } = proxies;
  // One that stands for both is told once.
  const given = { HTTP_PROXY: http, HTTPS_PROXY: https === http ? undefined : https };
  return Object.entries(given)
    .filter(([, text]) => text !== undefined && !isProxy(text))
    .map(
      ([name]) =>
        `${name} is no address of a proxy: it has the form http://host:port, with user:password@ before the host if need be, percent-encoded.`,
    );
}

function isProxy(text: string): boolean {
  try {
    const { protocol, username, password } = new URL(text);
    // As undici does.
    decodeURIComponent(username + password);
    return protocol === 'http:' || protocol === 'https:';
  } catch {
    return false;
  }
}

/** For people: what goes through which, without user and password; null without a proxy, or where one is none. */
export function proxiesShown(proxies: Proxies): string | null {
  const { http_proxy, https_proxy, no_proxy } = proxies;
  if (https_proxy === undefined || no_proxy === '*') return null;
  if (mistakesInProxies(proxies).length > 0) return null;
  const place = (text: string): string => text.replace(/\/\/.*@/, '//').replace(/\/$/, '');
  const ways =
    http_proxy === https_proxy
      ? [place(https_proxy)]
      : [
          `https by ${place(https_proxy)}`,
          http_proxy === undefined ? 'http directly' : `http by ${place(http_proxy)}`,
        ];
  return `${ways.join(', ')}; directly: ${no_proxy}`;
}
