// Certificates for servers of tests, made afresh: no key lies in the sources. Node makes keys and signatures; what is
// left is the frame around them, in which an X.509 certificate is written (RFC 5280, DER).
import { createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { connect, createServer as createTcpServer } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { listenHere } from './loopback.ts';

export type Certified = { name: string; key: string; certificate: string };

const dayMs = 86_400_000;

/**
 * A certificate made out to that host, since the day before yesterday. `by`: who signs it; null: itself, as one that may
 * sign others.
 */
export function certify(
  name: string,
  by: Certified | null = null,
  notAfter = Date.now() + dayMs,
): Certified {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const key = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1, ...randomBytes(7)])),
    ecdsaWithSha256,
    commonName(by?.name ?? name),
    sequence(time(Date.now() - 2 * dayMs), time(notAfter)),
    commonName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        // Basic constraints: whether it may sign others. Subject alternative name: a host.
        extension('551d13', by === null ? der(0x01, Buffer.from([255])) : Buffer.alloc(0)),
        extension('551d11', der(0x82, Buffer.from(name))),
      ),
    ),
  );
  const signature = createSign('sha256')
    .update(body)
    .sign(by?.key ?? key);
  const whole = sequence(body, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  const certificate = `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
  return { name, key, certificate };
}

/** A value with its tag and length. */
function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...contents: Buffer[]): Buffer => der(0x30, ...contents);

const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));

const commonName = (name: string): Buffer =>
  sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name)))));

const time = (at: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(at).toISOString().slice(2, 19).replaceAll(/[-:T]/g, '')}Z`));

const extension = (id: string, content: Buffer): Buffer =>
  sequence(oid(id), der(0x04, sequence(content)));

export type HttpsServer = Awaited<ReturnType<typeof startHttpsServer>>;

/** A real HTTPS server on loopback. `name`: whom its certificate is made out to. */
export async function startHttpsServer(handler: RequestListener, name = 'localhost') {
  const { key, certificate } = certify(name);
  const paths: string[] = [];
  const server = createServer({ key, cert: certificate }, (request, response) => {
    paths.push(request.url ?? '');
    handler(request, response);
  });
  const { port, close } = await listenHere(server, 'localhost');
  // Its certificate is to be trusted by whoever connects.
  return { url: `https://localhost:${port}`, certificate, paths, close };
}

/**
 * Answers Postgres' request for TLS (protocol 3, SSLRequest) in place of that server and hands on what is inside. With
 * `trusted` it lets in only who has a certificate signed by it.
 */
export async function speakTlsFor(
  { hostname, port }: URL,
  { key, certificate: cert }: Pick<Certified, 'key' | 'certificate'>,
  trusted: Certified | null = null,
) {
  const seen = { encrypted: 0, named: [] as string[] };
  const secureContext = createSecureContext({ key, cert, ca: trusted?.certificate });
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write('S');
      const inside = new TLSSocket(socket, {
        isServer: true,
        secureContext,
        requestCert: trusted !== null,
      });
      const postgres = connect(Number(port), hostname);
      for (const one of [inside, postgres]) one.on('error', () => socket.destroy());
      // Else Postgres waits for whoever has gone.
      socket.once('close', () => postgres.destroy());
      inside.once('secure', () => {
        const { subject, issuer } = inside.getPeerCertificate();
        if (trusted !== null && issuer?.CN !== trusted.name) {
          socket.destroy();
          return;
        }
        seen.encrypted += 1;
        if (typeof subject?.CN === 'string') seen.named.push(subject.CN);
      });
      inside.pipe(postgres).pipe(inside);
    });
  });
  return { ...(await listenHere(server)), seen };
}
