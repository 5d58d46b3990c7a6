// A real HTTPS server on loopback with a certificate of its own.
import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { certify } from './certificates.ts';

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
  const { key, certificate } = certify(name);
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
