// The S3 protocol on loopback, as far as an export speaks it: objects, conditions, parts and pages of a list, kept in
// memory. It recomputes each signature and each body's digest from what arrived, as a store does, and refuses what
// differs. On the way to it requests can be refused, cut off and held.
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listenHere } from './loopback.ts';

/** What befalls a request instead of what should. */
type Fault =
  | { kind: 'answer'; status: number; code: string }
  /** The connection is reset when so many bytes of the request have come. */
  | { kind: 'reset'; after: number }
  /** Of the answer's body only so many bytes arrive. */
  | { kind: 'truncate'; after: number }
  /** Nothing happens any more; `held` is told. */
  | { kind: 'hold' };

export type S3Server = Awaited<ReturnType<typeof createS3Server>>;

const answer = (status: number, code: string): Fault => ({ kind: 'answer', status, code });

export const busy = (status: 500 | 503): Fault =>
  answer(status, status === 503 ? 'SlowDown' : 'InternalError');

/** Not tried again by the client. */
export const refused = answer(403, 'AccessDenied');

/** What an S3 server says where somebody else was putting the same name. */
export const conflict = answer(409, 'ConditionalRequestConflict');
export const taken = answer(412, 'PreconditionFailed');

/** What a store says that knows no conditions: Backblaze B2 with 501, Alibaba Cloud OSS with 400. */
export const notImplemented = (status: 400 | 501): Fault => answer(status, 'NotImplemented');

const keyId = 'test-key';
const secret = 'test-secret';

/** Fewer than a store gives, so that each longer list is one of several pages. */
const listed = 5;

type Held = { body: Buffer; etag: string; notes: Record<string, string> };
type Upload = { notes: Record<string, string>; parts: Map<string, Held> };
type Asked = { method: string; key: string; query: URLSearchParams; body: Buffer };
type Answer = { status: number; headers?: Record<string, string>; body?: Buffer | string };

const no = (status: number, code: string): Answer => ({
  status,
  body: `<Error><Code>${code}</Code><Message>No.</Message></Error>`,
});

export async function createS3Server(bucket: string) {
  const objects = new Map<string, Held>();
  const uploads = new Map<string, Upload>();
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

  function put(key: string, held: Held, { headers }: IncomingMessage): Answer {
    const before = objects.get(key);
    const mustBe = headers['if-match'];
    if (headers['if-none-match'] === '*' && before !== undefined) {
      return no(412, 'PreconditionFailed');
    }
    if (mustBe !== undefined && before?.etag !== mustBe) return no(412, 'PreconditionFailed');
    objects.set(key, held);
    return { status: 200, headers: { etag: held.etag } };
  }

  function list(query: URLSearchParams): Answer {
    const after = query.get('continuation-token') ?? '';
    const keys = [...objects.keys()]
      .filter((key) => key.startsWith(query.get('prefix') ?? '') && key > after)
      .toSorted();
    const page = keys.slice(0, listed);
    const rows = page.map((key) => {
      const name = key.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
      return `<Contents><Key>${name}</Key><Size>${objects.get(key)?.body.length}</Size></Contents>`;
    });
    const next = `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>`;
    const more = keys.length > listed;
    return {
      status: 200,
      body: `<ListBucketResult><IsTruncated>${more}</IsTruncated>${more ? next : ''}${rows.join('')}</ListBucketResult>`,
    };
  }

  function ofUpload(
    id: string,
    { method, key, query, body }: Asked,
    from: IncomingMessage,
  ): Answer {
    const upload = uploads.get(id);
    if (upload === undefined) return no(404, 'NoSuchUpload');
    const number = query.get('partNumber');
    if (method === 'PUT' && number !== null) {
      const part = heldOf(body, {});
      upload.parts.set(number, part);
      return { status: 200, headers: { etag: part.etag } };
    }
    if (method === 'DELETE') return uploads.delete(id) ? { status: 204 } : no(404, 'NoSuchUpload');
    const parts = [...body.toString().matchAll(/<Part>(.*?)<\/Part>/g)].map(([, part = '']) => {
      const one = upload.parts.get(/<PartNumber>(\d+)</.exec(part)?.[1] ?? '');
      return part.replaceAll('&quot;', '"').includes(`<ETag>${one?.etag}<`) ? one : undefined;
    });
    if (parts.length === 0 || parts.includes(undefined)) return no(400, 'InvalidPart');
    const whole = Buffer.concat(parts.flatMap((part) => part?.body ?? []));
    const done = put(key, heldOf(whole, upload.notes), from);
    if (done.status === 200) uploads.delete(id);
    return { ...done, body: done.body ?? '<CompleteMultipartUploadResult/>' };
  }

  function answerOf(asked: Asked, from: IncomingMessage): Answer {
    const { method, key, query, body } = asked;
    if (key === '') return list(query);
    const notes = Object.fromEntries(
      Object.entries(from.headers).filter(([name]) => name.startsWith('x-amz-meta-')),
    ) as Record<string, string>;
    if (query.has('uploads')) {
      const id = randomUUID();
      uploads.set(id, { notes, parts: new Map() });
      return {
        status: 200,
        body: `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      };
    }
    const id = query.get('uploadId');
    if (id !== null) return ofUpload(id, asked, from);
    if (method === 'PUT') return put(key, heldOf(body, notes), from);
    if (method === 'DELETE') {
      objects.delete(key);
      return { status: 204 };
    }
    const held = objects.get(key);
    if (held === undefined) return no(404, 'NoSuchKey');
    return { status: 200, headers: { etag: held.etag, ...held.notes }, body: held.body };
  }

  async function handle(from: IncomingMessage, to: ServerResponse): Promise<void> {
    const { method = '', url = '' } = from;
    const [path = '', search = ''] = url.split('?');
    const [, name, ...rest] = path.split('/').map(decodeURIComponent);
    const key = rest.join('/');
    seen.push(`${method} ${key}`);
    const fault = met(`${method} ${key}?${search}`);
    if (fault?.kind === 'hold') return isHeld();
    if (fault?.kind === 'reset') {
      let bytes = 0;
      if (fault.after === 0) from.socket.resetAndDestroy();
      from.on('data', (piece: Buffer) => {
        bytes += piece.length;
        if (bytes >= fault.after) from.socket.resetAndDestroy();
      });
      return;
    }
    const body = await buffer(from);
    const query = new URLSearchParams(search);
    const given =
      fault?.kind === 'answer'
        ? no(fault.status, fault.code)
        : (refusal(from, path, query, body) ??
          (name === bucket
            ? answerOf({ method, key, query, body }, from)
            : no(404, 'NoSuchBucket')));
    const whole = Buffer.from(given.body ?? '');
    to.writeHead(given.status, { ...given.headers, 'content-length': whole.length });
    if (method === 'HEAD') to.end();
    else if (fault?.kind !== 'truncate') to.end(whole);
    else to.write(whole.subarray(0, fault.after), () => to.destroy());
  }

  const server = createServer((from, to) => void handle(from, to).catch(() => to.destroy()));
  const { port, close } = await listenHere(server);
  return {
    /** The variables by which it is found and its keys. */
    env: {
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}`,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: keyId,
      AWS_SECRET_ACCESS_KEY: secret,
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    },
    /** Requests since it was last asked, as `PUT p/orders/2026-02.….csv`, the bucket's name left out. */
    requests: (): string[] => seen.splice(0),
    /** No faults any more, and no requests. */
    reset: (): void => {
      seen = [];
      faults = [];
    },
    /** The first requests whose line, and their query after it, matches meet this. */
    fault: (pattern: RegExp, fault: Fault, times = 1): void =>
      void faults.push({ pattern, fault, times }),
    /** Resolves when a request is held. */
    held: async (): Promise<void> => {
      await holding;
      holding = new Promise<void>((resolve) => (isHeld = resolve));
    },
    close,
  };
}

const heldOf = (body: Buffer, notes: Record<string, string>): Held => ({
  body,
  etag: `"${createHash('md5').update(body).digest('hex')}"`,
  notes,
});

const sha256 = (what: Buffer | string): string => createHash('sha256').update(what).digest('hex');

/** Why a store would not even look at the request: Signature Version 4, recomputed. */
function refusal(
  { method, headers }: IncomingMessage,
  path: string,
  query: URLSearchParams,
  body: Buffer,
): Answer | null {
  const [, id, scope = '', signed = '', signature] =
    /Credential=([^/]+)\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=(\w+)/.exec(
      headers.authorization ?? '',
    ) ?? [];
  if (id !== keyId) return no(403, 'InvalidAccessKeyId');
  const digest = String(headers['x-amz-content-sha256']);
  if (digest !== sha256(body)) return no(400, 'XAmzContentSHA256Mismatch');
  const asked = [
    method,
    path,
    [...query]
      .map((pair) => pair.map((one) => encoded(one)).join('='))
      .toSorted()
      .join('&'),
    ...signed.split(';').map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    signed,
    digest,
  ].join('\n');
  const wanted = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(asked)].join('\n');
  const key = scope
    .split('/')
    .reduce<Buffer>((made, part) => hmac(made, part), Buffer.from(`AWS4${secret}`));
  return hmac(key, wanted).toString('hex') === signature ? null : no(403, 'SignatureDoesNotMatch');
}

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
