// A real HTTPS server on loopback with a certificate of its own, made afresh: no key lies in the sources.
import { createSign, generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type HttpsServer = {
  /** `https://localhost:port`. */
  url: string;
  /** To be trusted by whoever connects. */
  certificate: string;
  paths: string[];
  close(): Promise<void>;
};

/** `name`: whom its certificate is made out to. */
export async function startHttpsServer(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
  name = 'localhost',
): Promise<HttpsServer> {
  const { key, certificate } = selfSigned(name);
  const paths: string[] = [];
  const server = createServer({ key, cert: certificate }, (request, response) => {
    paths.push(request.url ?? '');
    handler(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, 'localhost', resolve);
  });
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    certificate,
    paths,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** DER: a value with its tag and length. */
function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

/** The smallest X.509 certificate that a TLS client takes: version 1, a common name, a day before and after now. */
function selfSigned(name: string): { key: string; certificate: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const ecdsaWithSha256 = der(0x30, Buffer.from('06082a8648ce3d040302', 'hex'));
  const commonName = Buffer.from('0603550403', 'hex');
  const subject = der(0x30, der(0x31, der(0x30, commonName, der(0x0c, Buffer.from(name)))));
  const time = (at: number): Buffer =>
    der(0x17, Buffer.from(`${new Date(at).toISOString().slice(2, 19).replaceAll(/[-:T]/g, '')}Z`));
  const dayMs = 86_400_000;
  const valid = der(0x30, time(Date.now() - dayMs), time(Date.now() + dayMs));
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const body = der(
    0x30,
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    subject,
    valid,
    subject,
    spki,
  );
  const signature = createSign('sha256').update(body).sign(privateKey);
  const whole = der(0x30, body, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  const certificate = `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
  return { key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })), certificate };
}
