// A bucket of an S3-compatible store, by the one client library that knows all the ways in which AWS finds credentials.
// It reads, lists and adds; it deletes nothing but its own trial. What a store says becomes one of our errors here: no
// key, no token and no sentence of a stranger's gets further (P10).
import { open, stat } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import type {
  HeadObjectCommandOutput,
  PutObjectCommandInput,
  S3Client,
  S3ClientConfig,
} from '@aws-sdk/client-s3';
import { codeOf, fatal, isOutlastError, settingsError, transient } from '../errors.ts';
import { connectionProblem, createHttpClient } from '../http-client.ts';

type BucketAddress = { bucket: string; prefix: string };

/** `path` and `host` as OUTLAST_BUCKET_ADDRESSING says; null: host at AWS, path at an endpoint of one's own. */
type Addressing = 'path' | 'host' | null;

type BucketOptions = { addressing: Addressing; signal: AbortSignal };

/** An object as the store tells of it. `notes` were given when it was put. */
type Found = { bytes: number; notes: Record<string, string> };

/** What must be so for an object to be put: there is none, it is still the one with this ETag, or nothing. */
type Condition = 'none' | { etag: string } | null;

export type Bucket = {
  /** `s3://bucket/prefix`, for sentences. */
  address: string;
  /** The names below the prefix, with their bytes. */
  list(): Promise<Map<string, number>>;
  find(name: string): Promise<Found | null>;
  /** A small object whole; null: there is none. */
  readText(name: string): Promise<{ text: string; etag: string } | null>;
  /** Hands over the body, again from its beginning if it breaks off; null: there is none. */
  read<T>(name: string, take: (body: Readable) => Promise<T>): Promise<T | null>;
  /** False where the condition did not hold. A store that knows no conditions is asked without. */
  putText(name: string, content: string, condition: Condition): Promise<boolean>;
  /** Adds a file under a name that is not taken; false where it is. */
  putFile(name: string, path: string, notes: Record<string, string>): Promise<boolean>;
  /** Puts an object under `trialName` and removes it; false where these credentials may not remove it. */
  tryOut(): Promise<boolean>;
  close(): void;
};

/** Among the manifests of earlier exports, where nothing reads it. */
export const trialName = 'manifests/trial.json';

/** Throws settings `bad_bucket`. */
export function parseBucketAddress(place: string): BucketAddress {
  const [, bucket, prefix] =
    /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]{1,62})(?:\/([^?#]*))?$/.exec(place) ?? [];
  const path = (prefix ?? '').replace(/\/+$/, '');
  const isPlain = path === '' || path.split('/').every((part) => !['', '.', '..'].includes(part));
  if (bucket !== undefined && isPlain) return { bucket, prefix: path };
  throw settingsError(
    'bad_bucket',
    'This is no address of a bucket: it has the form s3://bucket/prefix. Keys and endpoints belong into the AWS_ variables.',
  );
}

/**
 * What is held in memory of a file on its way: a part of it, which the library can therefore send again. 16 MB times
 * the 10,000 parts that S3 allows are 160 GB.
 */
export const partBytes = 16 * 1024 * 1024;

/** Reading a body breaks off after the library's own attempts have ended. */
const readAttempts = 3;

/**
 * Loads the client, which nothing else does. Throws settings `bad_bucket`. All that it gives throws what `storeError`
 * says.
 */
export async function openBucket(place: string, options: BucketOptions): Promise<Bucket> {
  const { bucket, prefix } = parseBucketAddress(place);
  const s3 = await import('@aws-sdk/client-s3');
  const client = await createClient(s3.S3Client, options);
  const address = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`;
  const objectAt = (name: string) => ({
    Bucket: bucket,
    Key: prefix === '' ? name : `${prefix}/${name}`,
  });
  const told = async <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw storeError(address, error);
    });
  let knowsConditions = true;

  async function onlyIf(
    condition: Condition,
    send: (conditions: Pick<PutObjectCommandInput, 'IfMatch' | 'IfNoneMatch'>) => Promise<unknown>,
  ): Promise<boolean> {
    const conditions =
      condition === 'none' ? { IfNoneMatch: '*' } : condition && { IfMatch: condition.etag };
    try {
      await send((knowsConditions && conditions) || {});
    } catch (error) {
      const status = statusOf(error);
      if (status === 412 || status === 409) return false;
      // Alibaba Cloud OSS says NotImplemented with 400, others with 501.
      const isUnknown = status === 501 || nameOf(error) === 'NotImplemented';
      if (!isUnknown || !knowsConditions) throw storeError(address, error);
      knowsConditions = false;
      await told(send({}));
    }
    return true;
  }

  const put = (
    name: string,
    Body: Buffer,
    Metadata: Record<string, string>,
    condition: Condition,
  ): Promise<boolean> =>
    onlyIf(condition, (conditions) =>
      client.send(new s3.PutObjectCommand({ ...objectAt(name), ...conditions, Body, Metadata })),
    );

  /**
   * Not by @aws-sdk/lib-storage: it brings ten packages, most of them stand-ins for Node's own in a browser, holds two
   * parts of a stream, and where these credentials may not abort an upload, it throws that instead of what went wrong.
   */
  async function putParts(
    name: string,
    path: string,
    bytes: number,
    notes: Record<string, string>,
  ): Promise<boolean> {
    const { UploadId } = await told(
      client.send(new s3.CreateMultipartUploadCommand({ ...objectAt(name), Metadata: notes })),
    );
    const upload = { ...objectAt(name), UploadId };
    const Parts: { PartNumber: number; ETag: string | undefined }[] = [];
    let isPut = false;
    try {
      for (let from = 0; from < bytes; from += partBytes) {
        const Body = await pieceOf(path, from, Math.min(partBytes, bytes - from));
        const PartNumber = Parts.length + 1;
        const sent = client.send(new s3.UploadPartCommand({ ...upload, PartNumber, Body }));
        Parts.push({ PartNumber, ETag: (await told(sent)).ETag });
      }
      const whole = { ...upload, MultipartUpload: { Parts } };
      isPut = await onlyIf('none', (conditions) =>
        client.send(new s3.CompleteMultipartUploadCommand({ ...whole, ...conditions })),
      );
      return isPut;
    } finally {
      // Parts that never became an object are paid for until somebody says that they will not.
      if (!isPut) {
        await client.send(new s3.AbortMultipartUploadCommand(upload)).catch(() => undefined);
      }
    }
  }

  async function read<T>(
    name: string,
    take: (body: Readable, etag: string) => Promise<T>,
  ): Promise<T | null> {
    for (let attempt = 1; ; attempt++) {
      try {
        const found = await ifThere(client.send(new s3.GetObjectCommand(objectAt(name))));
        return found && (await take(found.Body as Readable, found.ETag ?? ''));
      } catch (error) {
        const said = storeError(address, error);
        // What the store said, it says again.
        const isPassing = said !== error && isOutlastError(said, 'store_unreachable');
        if (!isPassing || attempt === readAttempts || options.signal.aborted) throw said;
      }
    }
  }

  return {
    address,
    async list() {
      const found = new Map<string, number>();
      const Prefix = objectAt('').Key;
      let ContinuationToken: string | undefined;
      // P9: ends, for every page is asked for with the token of the one before, and a token seen before is refused.
      const seen = new Set<string | undefined>();
      do {
        if (seen.has(ContinuationToken)) {
          throw fatal('store_failed', `The list of ${address} does not end.`);
        }
        seen.add(ContinuationToken);
        const page = await told(
          client.send(new s3.ListObjectsV2Command({ Bucket: bucket, Prefix, ContinuationToken })),
        );
        for (const { Key = '', Size = 0 } of page.Contents ?? []) {
          found.set(Key.slice(Prefix.length), Size);
        }
        ContinuationToken = page.IsTruncated === true ? page.NextContinuationToken : undefined;
      } while (ContinuationToken !== undefined);
      return found;
    },
    async find(name) {
      const sent = client.send(new s3.HeadObjectCommand(objectAt(name)));
      const found = await told(ifThere<HeadObjectCommandOutput>(sent));
      return found && { bytes: found.ContentLength ?? 0, notes: found.Metadata ?? {} };
    },
    readText: (name) => read(name, async (body, etag) => ({ text: await text(body), etag })),
    read,
    async tryOut() {
      await told(client.send(new s3.PutObjectCommand({ ...objectAt(trialName), Body: '{}' })));
      try {
        await client.send(new s3.DeleteObjectCommand(objectAt(trialName)));
        return true;
      } catch {
        // An export needs no right to.
        return false;
      }
    },
    putText: (name, content, condition) => put(name, Buffer.from(content), {}, condition),
    async putFile(name, path, notes) {
      const bytes = (await stat(path)).size;
      if (bytes > partBytes) return putParts(name, path, bytes, notes);
      return put(name, await pieceOf(path, 0, bytes), notes, 'none');
    },
    close: () => client.destroy(),
  };
}

/**
 * Buffers as bodies, so that the library signs their SHA-256 and the store refuses what arrives otherwise: this is part
 * of every signature, while the checksums beside it are unknown to some stores, which then refuse the object.
 */
async function createClient(
  Client: typeof S3Client,
  { addressing, signal }: BucketOptions,
): Promise<S3Client> {
  const client = new Client({
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    followRegionRedirects: true,
    // undici asks nobody whether it may go on, and refuses a request that would.
    expectContinueHeader: false,
    requestHandler: createRequestHandler(signal),
  });
  const own = await client.config.serviceConfiguredEndpoint?.();
  client.config.forcePathStyle = addressing === null ? own !== undefined : addressing === 'path';
  return client;
}

type Query = Record<string, string | string[] | null>;

type Request = {
  protocol: string;
  hostname: string;
  port?: number;
  path: string;
  query?: Query;
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  headers: Record<string, string>;
  body?: Buffer | string;
};

/**
 * In place of the library's own, which knows no proxies and gives an address 250 ms. The signal ends all that is under
 * way but what tidies up.
 */
function createRequestHandler(stop: AbortSignal): NonNullable<S3ClientConfig['requestHandler']> {
  // A connection that says nothing is given up, and the request made again.
  const client = createHttpClient({ connectMs: 10_000, idleMs: 60_000 });
  return {
    metadata: { handlerProtocol: 'http/1.1' },
    destroy: () => void client.destroy(),
    async handle(request: Request) {
      const { protocol, hostname, port, path, query = {}, method, headers, body } = request;
      const search = queryOf(query);
      try {
        const answer = await client.request({
          origin: `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`,
          path: path + (search === '' ? '' : `?${search}`),
          method,
          headers,
          body: typeof body === 'object' ? Readable.from(piecesOf(body)) : (body ?? null),
          signal: method === 'DELETE' ? null : stop,
        });
        const joined = Object.entries(answer.headers).map(([name, value]) => [name, String(value)]);
        return { response: { ...answer, headers: Object.fromEntries(joined) } };
      } catch (error) {
        // The library's word for what it is to try again.
        const isPassing = /^(UND_|ECONN|EPIPE|ETIMEDOUT|proxy_unreachable)/.test(
          codeOf(error) ?? '',
        );
        throw isPassing ? Object.assign(error as Error, { name: 'TimeoutError' }) : error;
      }
    },
  };
}

/** As it was signed: not even a space is written otherwise than as %20. */
function queryOf(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values ?? ''].flat().map((value) => [name, value]),
  );
  const written = new URLSearchParams(pairs).toString();
  return written.replaceAll('+', '%20').replaceAll('*', '%2A').replaceAll('%7E', '~');
}

/** In pieces, for each that is taken shows that the connection lives: at once it would have a minute for all. */
function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += 65_536) yield bytes.subarray(from, from + 65_536);
}

async function pieceOf(path: string, from: number, bytes: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const piece = Buffer.alloc(bytes);
    const { bytesRead } = await file.read(piece, 0, bytes, from);
    if (bytesRead === bytes) return piece;
    throw fatal('file_changed', `${path} became shorter while it was read.`);
  } finally {
    await file.close();
  }
}

/** A bucket, or a user, that is not there is answered with 404 as well: that says nothing of the object. */
const ifThere = <T>(sent: Promise<T>): Promise<T | null> =>
  sent.catch((error: unknown) => {
    if (['NoSuchKey', 'NotFound'].includes(nameOf(error))) return null;
    throw error;
  });

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');

function statusOf(error: unknown): number | undefined {
  const { $metadata, $response } = error as {
    $metadata?: { httpStatusCode?: number };
    $response?: { statusCode?: number };
  };
  return $metadata?.httpStatusCode ?? $response?.statusCode;
}

const passing = new Set([
  'SlowDown',
  'Throttling',
  'ThrottlingException',
  'RequestTimeout',
  // What arrived is not what was sent.
  'XAmzContentSHA256Mismatch',
  'BadDigest',
]);
const badKeys = new Set([
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'InvalidToken',
  'ExpiredToken',
  'TokenRefreshRequired',
]);

/** A name that may be shown. Whoever answers as the store chooses it, and may write whatever it likes there. */
const wordOf = (name: string | undefined): string | undefined =>
  /^\w{1,64}$/.test(name ?? '') ? name : undefined;

/**
 * What a store, or the way to it, said, as one of our errors: transient `store_unreachable`, `store_busy` and
 * `aborted`, settings `store_refused`, `no_bucket`, `no_region` and `store_untrusted`, fatal `store_failed`. What is
 * one already, or the disk's, stays as it is.
 */
export function storeError(address: string, error: unknown): unknown {
  const isProxy = isOutlastError(error, 'proxy_unreachable');
  if (isOutlastError(error) && !isProxy) return error;
  const name = wordOf(nameOf(error)) ?? 'UnknownError';
  const status = statusOf(error);
  const code = wordOf(codeOf(error));
  if (name === 'AbortError') {
    return transient('aborted', 'Stopped. What is finished is kept: the next one goes on.');
  }
  if (name === 'CredentialsProviderError' || name === 'TokenProviderError') {
    return settingsError(
      'store_refused',
      `No credentials for ${address} were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give this machine a role.`,
    );
  }
  if (error instanceof Error && error.message === 'Region is missing') {
    return settingsError(
      'no_region',
      `The region of ${address} is not known: set AWS_REGION (us-east-1 where your store has none).`,
    );
  }
  const problem = connectionProblem(error);
  if (problem !== null) {
    const sentence = `The store of ${address} is not reached: ${problem}.`;
    // A proxy's own answer may be another later.
    return isProxy || code === 'UND_ERR_ABORTED'
      ? transient('store_unreachable', sentence)
      : settingsError('store_untrusted', sentence);
  }
  if (status === undefined) {
    // What the disk or the program says is no answer of the store.
    const isWire =
      name === 'TimeoutError' ||
      /^(E(CONN|HOST|NET|PIPE|TIMEDOUT|AI_)|ENOTFOUND|EPROTO|ERR_STREAM_PREMATURE_CLOSE|UND_)/.test(
        code ?? '',
      ) ||
      (error instanceof Error && error.message === 'aborted');
    if (!isWire) return error;
    return transient(
      'store_unreachable',
      `The store of ${address} could not be reached, or broke off (${code ?? name}). If this lasts, check AWS_ENDPOINT_URL_S3 and AWS_REGION.`,
    );
  }
  if (name === 'NoSuchBucket') {
    return settingsError(
      'no_bucket',
      `There is no bucket for ${address} in this store: make it, or name another. If it is there, check AWS_REGION and AWS_ENDPOINT_URL_S3.`,
    );
  }
  if (status >= 500 || status === 429 || status === 408 || passing.has(name)) {
    return transient(
      'store_busy',
      `The store of ${address} does not take this now (${name}, ${status}): try again later.`,
    );
  }
  if (badKeys.has(name)) {
    return settingsError(
      'store_refused',
      `The store of ${address} refused the credentials (${name}): check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or the profile in AWS_PROFILE.`,
    );
  }
  if (status === 401 || status === 403 || status === 404) {
    return settingsError(
      'store_refused',
      `The store of ${address} refused this (${name}, ${status}): the credentials need the rights s3:ListBucket, s3:GetObject and s3:PutObject there.`,
    );
  }
  if ((status >= 300 && status < 400) || name === 'AuthorizationHeaderMalformed') {
    return settingsError(
      'no_region',
      `${address} is in another region or at another address (${name}, ${status}): check AWS_REGION and AWS_ENDPOINT_URL_S3.`,
    );
  }
  return fatal('store_failed', `The store of ${address} refused a request (${name}, ${status}).`);
}
