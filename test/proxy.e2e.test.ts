// Where only a proxy leads out: every door of HTTP goes through it, its password is told nobody, and what is on this
// machine or named in NO_PROXY is reached directly. And certificates that are not trusted.
import { writeFile } from 'node:fs/promises';
import {
  createServer as createWebServer,
  request,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deliver } from '../src/alert/deliver.ts';
import { openBucket } from '../src/export/s3.ts';
import { noon, smallWorld } from './support/archive.ts';
import { runCommand } from './support/command.ts';
import { startHttpsServer, type HttpsServer } from './support/certificates.ts';
import { makeFolder, removeFolder, setUp } from './support/fresh.ts';
import { listenHere } from './support/loopback.ts';
import { stoppedAt } from './support/machine-clock.ts';
import { practise, type Practice } from './support/practise.ts';
import { startReceiver, type Receiver } from './support/receiver.ts';
import { replace } from './support/replaced.ts';
import { createS3Server, type S3Server } from './support/s3-server.ts';

const password = 'sesame-4711';
let folder: string;
let practice: Practice;
let front: HttpsServer;
let receiver: Receiver;
let s3: S3Server;
let proxy: Awaited<ReturnType<typeof startProxy>>;

const portOf = (url: string): number => Number(new URL(url).port);

setUp(async (keep) => {
  folder = await keep(makeFolder(), removeFolder);
  practice = await practise({ world: smallWorld }, keep);
  const platform = startHttpsServer((from, to) => {
    passOn(from, to, portOf(practice.simulator.url), from.url ?? '');
  }, 'platform.example');
  front = await keep(platform);
  await writeFile(join(folder, 'authority.pem'), front.certificate);
  receiver = await keep(startReceiver());
  s3 = await keep(createS3Server('backup'));
  const hosts = {
    'platform.example:443': portOf(front.url),
    'hooks.example:80': portOf(receiver.url),
    's3.amazonaws.com:80': portOf(s3.env['AWS_ENDPOINT_URL_S3'] ?? ''),
  };
  proxy = await keep(startProxy(hosts, `ops:${password}`));
});

const proxied = (login = `ops:${password}@`): string => `http://${login}127.0.0.1:${proxy.port}`;

/** What doctor finds, with what stands in its .env. */
async function examined(inFile: string, env: Record<string, string> = {}) {
  const file = join(folder, 'mine.env');
  await writeFile(file, inFile);
  const ended = await runCommand(['doctor'], {
    cwd: folder,
    env: {
      ...practice.env(),
      OUTLAST_BASE_URL: 'https://platform.example',
      OUTLAST_ENV_FILE: file,
      COLUMNS: '1000',
      ...env,
    },
  });
  expect(ended.stdout + ended.stderr).not.toContain(password);
  return ended;
}

test('the platform, by a proxy of .env without a scheme; doctor names it', async () => {
  const trusting = { NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem') };
  const { stdout, code } = await examined(
    `https_proxy=ops:${password}@127.0.0.1:${proxy.port}\nHTTP_PROXY=\n`,
    trusting,
  );
  expect(stdout).toMatch(/^ok +platform +https:\/\/platform.example takes the key/m);
  expect(stdout).toContain(
    `https by http://127.0.0.1:${proxy.port}, http directly; directly: localhost,127.0.0.1,[::1]\n`,
  );
  expect(code).toBe(0);
  expect(proxy.asked).toContain('CONNECT platform.example:443');
});

test('a proxy that refuses, and one that is none, are told in a sentence', async () => {
  const nobody = await examined(`HTTPS_PROXY=${proxied('')}\n`);
  expect(nobody.stdout).toContain('the proxy wants a user and a password (407)');
  const unknown = await examined(`HTTPS_PROXY=${proxied()}\n`, {
    OUTLAST_BASE_URL: 'https://other.example',
  });
  expect(unknown.stdout).toContain('the proxy leads nowhere (403)');
  const none = await examined('', { HTTPS_PROXY: `ftp://ops:${password}@127.0.0.1` });
  expect(none.stdout).toContain('HTTPS_PROXY is no address of a proxy: it has the form http://');
});

test('a proxy that is none stands in the way of what asks over HTTP, and of nothing else', async () => {
  const env = {
    ...stoppedAt(noon),
    ...s3.env,
    DATABASE_URL: practice.database.connectionString,
    HTTP_PROXY: `http://ops:${password}%@127.0.0.1:1`,
    OUTLAST_ALERT_WEBHOOK: `${receiver.url}/in`,
  };
  const ended = (...args: string[]) => runCommand(args, { cwd: folder, env });
  expect(await ended('status')).toMatchObject({ code: 0, stderr: '' });
  expect(await ended('query', 'dictionary')).toMatchObject({ code: 0, stderr: '' });
  for (const args of [
    ['status', '--test-alert'],
    ['export', 's3://backup'],
  ]) {
    const { code, stderr } = await ended(...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^outlast: HTTP_PROXY is no address of a proxy: .*\n$/);
    expect(stderr).not.toContain(password);
  }
});

test.each([
  ['answers nothing', false, 'no whole answer within 400 ms'],
  ['hangs up', true, 'the proxy is not reached or breaks off (UND_ERR_SOCKET)'],
])('a proxy that %s holds up nothing longer than the time-out says', async (_, hangsUp, said) => {
  const silent = createServer((socket) => {
    socket.on('error', () => undefined).on('data', () => (hangsUp ? socket.destroy() : undefined));
  });
  const { port, close } = await listenHere(silent);
  const { stdout } = await examined(
    `HTTPS_PROXY=127.0.0.1:${port}\n`,
    hangsUp ? {} : { OUTLAST_TIMEOUT_MS: '400' },
  );
  expect(stdout).toContain(said);
  await close();
});

test('a certificate that is not trusted is told with what helps, and that .env is no place for it', async () => {
  const untrusted = await examined(`HTTPS_PROXY=${proxied()}\n`);
  expect(untrusted.stdout).toContain(
    'the certificate is not accepted (DEPTH_ZERO_SELF_SIGNED_CERT): no authority that is known here has signed it. Name the file of its certificate in NODE_EXTRA_CA_CERTS',
  );
  const late = await examined(`NODE_EXTRA_CA_CERTS=${join(folder, 'authority.pem')}\n`);
  expect(late.stdout).toContain('NODE_EXTRA_CA_CERTS has no effect in ');
  expect(await deliver({ url: `${front.url}/in`, body: null })).toMatch(
    /^the certificate is not accepted \(DEPTH_ZERO_SELF_SIGNED_CERT\): /,
  );
});

test('the webhook, the heartbeat and the bucket; and not what NO_PROXY names', async () => {
  const own = { ...s3.env, AWS_ENDPOINT_URL_S3: 'http://s3.amazonaws.com' };
  const set = (no_proxy: string): (() => void) =>
    replace(process, 'env', { ...process.env, ...own, http_proxy: proxied(), no_proxy });
  let putBack = set('.other.example');
  proxy.asked.length = 0;
  expect(await deliver({ url: 'http://hooks.example/in', body: '{}' })).toBeNull();
  expect(await deliver({ url: 'http://nobody.example/in', body: '{}' })).toBe('status 502');
  const { signal } = new AbortController();
  const bucket = await openBucket('s3://backup', { addressing: null, signal });
  expect(await bucket.putText("a b/(1)'*.txt", 'held', 'none')).toBe(true);
  expect(await bucket.readText("a b/(1)'*.txt")).toMatchObject({ text: 'held' });
  expect([...(await bucket.list()).keys()]).toEqual(["a b/(1)'*.txt"]);
  bucket.close();
  putBack();
  expect(proxy.asked.slice(0, 3)).toEqual([
    'POST http://hooks.example/in',
    'POST http://nobody.example/in',
    expect.stringMatching(/^PUT http:\/\/s3\.amazonaws\.com\/backup\/a%20b/),
  ]);

  putBack = set(`127.0.0.1:1,127.0.0.1:${portOf(receiver.url)}`);
  proxy.asked.length = 0;
  expect(await deliver({ url: `${receiver.url}/in`, body: null })).toBeNull();
  expect(proxy.asked).toEqual([]);
  putBack();
});

test('a bucket whose proxy opens no tunnel is tried again, and told with the store and the code', async () => {
  let asked = 0;
  const rude = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', () => {
        asked += 1;
        socket.destroy();
      });
  });
  const { port, close } = await listenHere(rude);
  const https_proxy = `http://127.0.0.1:${port}`;
  const own = { ...s3.env, AWS_ENDPOINT_URL_S3: 'https://s3.amazonaws.com', https_proxy };
  const putBack = replace(process, 'env', { ...process.env, ...own });
  const { signal } = new AbortController();
  const bucket = await openBucket('s3://backup', { addressing: null, signal });
  await expect(bucket.putText('a.txt', 'held', 'none')).rejects.toMatchObject({
    code: 'store_unreachable',
    message:
      'The store of s3://backup is not reached: the proxy is not reached or breaks off (UND_ERR_SOCKET).',
  });
  bucket.close();
  putBack();
  await close();
  // By the library, as it is tried where the store itself breaks off.
  expect(asked).toBe(3);
});

/** Lets the server at that port answer. */
function passOn(from: IncomingMessage, to: ServerResponse, port: number, path: string): void {
  const { method, headers } = from;
  const onward = request({ port, method, path, headers }, (answer) => {
    to.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(to);
  });
  from.pipe(onward.on('error', () => to.destroy()));
}

/**
 * A real HTTP proxy on loopback, as companies have them: it opens tunnels (CONNECT) for https, passes on what is asked
 * for by a whole address, and knows hosts by names that nobody else knows. `hosts`: where `name:port` leads to on this
 * machine. `login`: `user:password`, without which it refuses.
 */
async function startProxy(hosts: Record<string, number>, login: string) {
  // As `CONNECT platform.example:443` and `GET http://hooks.example/in`.
  const asked: string[] = [];
  const wanted = `Basic ${Buffer.from(login).toString('base64')}`;
  const mayPass = ({ headers, method, url }: IncomingMessage): boolean => {
    asked.push(`${method} ${url}`);
    return headers['proxy-authorization'] === wanted;
  };
  const server = createWebServer((from, to) => {
    if (!mayPass(from)) {
      to.writeHead(407).end();
      return;
    }
    const { host, pathname, search } = new URL(from.url ?? '');
    const port = hosts[host.includes(':') ? host : `${host}:80`];
    if (port === undefined) {
      to.writeHead(502).end();
      return;
    }
    passOn(from, to, port, pathname + search);
  });
  server.on('connection', (socket: Socket) => socket.on('error', () => undefined));
  server.on('connect', (from: IncomingMessage, socket: Socket) => {
    const refuse = (status: string): void => void socket.end(`HTTP/1.1 ${status}\r\n\r\n`);
    if (!mayPass(from)) return refuse('407 Proxy Authentication Required');
    const port = hosts[from.url ?? ''];
    if (port === undefined) return refuse('403 Forbidden');
    const onward = connect(port, 'localhost', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.once('close', () => onward.destroy());
  });
  return { ...(await listenHere(server)), asked };
}
