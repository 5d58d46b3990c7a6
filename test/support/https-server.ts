// A real HTTPS server on loopback with a certificate of its own, made afresh: no key lies in the sources.
import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generate } from 'selfsigned';

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
  const { private: key, cert } = await selfSigned(name);
  const paths: string[] = [];
  const server = createServer({ key, cert }, (request, response) => {
    paths.push(request.url ?? '');
    handler(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, 'localhost', resolve);
  });
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    certificate: cert,
    paths,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Its own authority, with a day before and after now. */
const selfSigned = (name: string): Promise<{ private: string; cert: string }> =>
  generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - 86_400_000),
    notAfterDate: new Date(Date.now() + 86_400_000),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: name }] },
    ],
  });
