// A real HTTPS server on loopback with a certificate of its own.
import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listenHere } from './loopback.ts';
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
  const { port, close } = await listenHere(server, 'localhost');
  return {
    url: `https://localhost:${port}`,
    certificate,
    paths,
    close,
  };
}
