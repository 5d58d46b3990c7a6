// A real S3 server on loopback, and the wire to it, on which requests can be refused, cut off and held.
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';

/** What befalls a request instead of what should. */
export type Fault =
  | { kind: 'answer'; status: number; body: string }
  /** The connection is reset when so many bytes of the request have come. */
  | { kind: 'reset'; after: number }
  /** Of the answer's body only so many bytes arrive. */
  | { kind: 'truncate'; after: number }
  /** Nothing happens any more; `held` is told. */
  | { kind: 'hold' };

export type S3Server = {
  /** The variables by which it is found and its keys. */
  env: Record<string, string>;
  /** Requests since it was last asked, as `PUT p/orders/2026-02.….csv`, the bucket's name left out. */
  requests(): string[];
  /** No faults any more, and no requests. */
  reset(): void;
  /** The first requests whose line, and their query after it, matches meet this. */
  fault(pattern: RegExp, fault: Fault, times?: number): void;
  /** Resolves when a request is held. */
  held(): Promise<void>;
  close(): Promise<void>;
};

const answer = (status: number, code: string): Fault => ({
  kind: 'answer',
  status,
  body: `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>No.</Message></Error>`,
});

export const busy = (status: 500 | 503): Fault =>
  answer(status, status === 503 ? 'SlowDown' : 'InternalError');

/** Not tried again by the client. */
export const refused = answer(403, 'AccessDenied');

/** What an S3 server says where somebody else was putting the same name. */
export const conflict = answer(409, 'ConditionalRequestConflict');
export const taken = answer(412, 'PreconditionFailed');

/** What a store says that knows no conditions: Backblaze B2 with 501, Alibaba Cloud OSS with 400. */
export const notImplemented = (status: 400 | 501): Fault => answer(status, 'NotImplemented');

export async function createS3Server(bucket: string): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'outlast-s3-'));
  const server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory,
    configureBuckets: [{ name: bucket, configs: [] }],
  });
  const { port } = await server.run();
  let seen: string[] = [];
  let faults: { pattern: RegExp; fault: Fault; times: number }[] = [];
  let isHeld = (): void => undefined;
  let holding = new Promise<void>((resolve) => (isHeld = resolve));

  const met = (line: string): Fault | null => {
    const found = faults.find(({ pattern }) => pattern.test(line));
    if (found === undefined) return null;
    if (--found.times === 0) faults = faults.filter((one) => one !== found);
    return found.fault;
  };

  const pass = (from: IncomingMessage, to: ServerResponse, truncateAfter: number | null): void => {
    const { method, url: path, headers } = from;
    const onward = request({ port, method, path, headers, agent: false }, (answer) => {
      to.writeHead(answer.statusCode ?? 500, answer.headers);
      if (truncateAfter === null) answer.pipe(to);
      else {
        answer.once('data', (piece: Buffer) =>
          to.write(piece.subarray(0, truncateAfter), () => to.destroy()),
        );
      }
    });
    onward.on('error', () => to.destroy());
    from.pipe(onward);
  };

  const wire = createServer((from, to) => {
    const [key = '', query = ''] = (from.url ?? '').split('?');
    const line = `${from.method} ${decodeURIComponent(key).slice(2 + bucket.length)}`;
    seen.push(line);
    const fault = met(`${line}?${query}`);
    if (fault === null || fault.kind === 'truncate') pass(from, to, fault?.after ?? null);
    else if (fault.kind === 'answer') {
      from.resume();
      to.writeHead(fault.status, { 'content-type': 'application/xml' }).end(fault.body);
    } else if (fault.kind === 'reset') {
      let bytes = 0;
      if (fault.after === 0) from.socket.resetAndDestroy();
      from.on('data', (piece: Buffer) => {
        bytes += piece.length;
        if (bytes >= fault.after) from.socket.resetAndDestroy();
      });
    } else isHeld();
  });
  await new Promise<void>((resolve) => wire.listen(0, '127.0.0.1', resolve));
  return {
    env: {
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${(wire.address() as AddressInfo).port}`,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    },
    requests() {
      const told = seen;
      seen = [];
      return told;
    },
    reset: () => {
      seen = [];
      faults = [];
    },
    fault: (pattern, fault, times = 1) => void faults.push({ pattern, fault, times }),
    held: async () => {
      await holding;
      holding = new Promise<void>((resolve) => (isHeld = resolve));
    },
    async close() {
      wire.closeAllConnections();
      await new Promise((resolve) => wire.close(resolve));
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
