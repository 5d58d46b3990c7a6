// Traces: what a real command sends to a collector, and that nothing is sent, loaded or stopped otherwise.
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { inSpan, wantsSpans } from '../src/tracing.ts';
import { smallWorld } from './support/archive.ts';
import { runCommand, startCommand } from './support/command.ts';
import { makeFolder, removeFolder, setUp } from './support/fresh.ts';
import { listenHere } from './support/loopback.ts';
import { practise, type Practice } from './support/practise.ts';

let folder: string;
let practice: Practice;
let settings: Record<string, string>;

setUp(async (keep) => {
  folder = await keep(makeFolder(), removeFolder);
  practice = await practise({ world: smallWorld, days: ['2026-04-06', '2026-04-07'] }, keep);
  settings = practice.env();
});

test('start sends its runs, slices, requests and transactions, and nothing secret', async () => {
  const collector = await startCollector();
  // As people have it: the address in the file, the name in the environment.
  const envFile = join(folder, 'env');
  await writeFile(envFile, `OTEL_EXPORTER_OTLP_ENDPOINT=${collector.url}\n`);
  const service = startCommand(['start'], {
    env: {
      ...settings,
      OUTLAST_ENV_FILE: envFile,
      OTEL_SERVICE_NAME: 'archive-of-march',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    },
  });
  const [, url] = await service.waitFor(/(http:\/\/127\.0\.0\.1:\d+)/);
  const of = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
  const traceparent = `00-${of.traceId}-${of.spanId}-01`;
  expect((await fetch(`${url}/readyz`, { headers: { traceparent } })).status).toBe(200);
  await vi.waitFor(
    () => expect(collector.spans().map(({ name }) => name)).toContain('run'),
    120_000,
  );
  const { code, stderr } = await service.stop();
  await collector.close();
  expect(code, stderr).toBe(0);

  const spans = collector.spans();
  const parentOf = (span: Span): Span | undefined => spans.find(({ id }) => id === span.parentId);
  const wayUp = (span: Span | undefined): string[] =>
    span === undefined ? [] : [span.name, ...wayUp(parentOf(span))];
  const ways = new Set(spans.map((span) => wayUp(span).join(' < ')));
  expect(ways).toContain('run');
  expect(ways).toContain('GET /v3/orders < slice < run');
  expect(ways).toContain('GET /v1beta1/nft/classes < slice < run');
  expect(ways).toContain('transaction < slice < run');
  const [readiness] = spans.filter(({ name }) => name === 'GET /readyz');
  expect(readiness).toMatchObject({ traceId: of.traceId, parentId: of.spanId });

  const sent = collector.bytes().toString('latin1');
  expect(sent).toContain('archive-of-march');
  expect(sent).toContain('answered');
  const [project] = practice.simulator.projects;
  const password = new URL(practice.database.connectionString).password;
  for (const secret of [project?.apiKey, project?.apiSecret, password]) {
    expect(secret).not.toBe('');
    expect(sent).not.toContain(secret);
  }
});

test('a collector that is gone costs a line, and no command', async () => {
  const gone = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_TIMEOUT: '200',
  };
  const { code, stderr } = await runCommand(['status'], { env: { ...settings, ...gone } });
  expect(code, stderr).toBe(0);
  expect(stderr.match(/Something is wrong with the traces/g)).toHaveLength(1);
});

test.each([
  [{}, false],
  [{ OTEL_SERVICE_NAME: 'archive' }, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, true],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318/v1/traces' }, true],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, true],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_TRACES_EXPORTER: 'none' }, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_SDK_DISABLED: 'TRUE' }, false],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    'OTEL_EXPORTER_OTLP_PROTOCOL can be http/protobuf, which collectors take on port 4318',
  ],
  [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER can be otlp or none'],
])('of the variables %o', (env, wanted) => {
  expect(wantsSpans(env)).toEqual(wanted);
});

test('where nobody asks for spans nothing of OpenTelemetry is loaded', async () => {
  const given = await inSpan('nothing', { kind: 'client' }, async (span) => {
    span.set({ count: 1 });
    return 'what was done';
  });
  expect(given).toBe('what was done');
  const known = Object.getOwnPropertySymbols(globalThis).map(String);
  expect(known.filter((name) => name.includes('opentelemetry'))).toEqual([]);
});

type Span = { traceId: string; id: string; parentId: string; name: string };

/** An HTTP server that takes what an exporter sends, and reads the spans in it. */
async function startCollector() {
  const bodies: Buffer[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      bodies.push(Buffer.concat(parts));
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  const { port, close } = await listenHere(server);
  return {
    url: `http://127.0.0.1:${port}`,
    bytes: () => Buffer.concat(bodies),
    // ExportTraceServiceRequest > ResourceSpans (1) > ScopeSpans (2) > Span (2), of opentelemetry-proto.
    spans: (): Span[] =>
      bodies
        .flatMap((body) => partsOf(body, 1))
        .flatMap((one) => partsOf(one, 2))
        .flatMap((one) => partsOf(one, 2))
        .map((span) => ({
          traceId: textOf(span, 1, 'hex'),
          id: textOf(span, 2, 'hex'),
          parentId: textOf(span, 4, 'hex'),
          name: textOf(span, 5, 'utf8'),
        })),
    close,
  };
}

const textOf = (message: Buffer, field: number, encoding: BufferEncoding): string =>
  partsOf(message, field)[0]?.toString(encoding) ?? '';

/** The values with a length of one field of a protobuf message. */
function partsOf(message: Buffer, wanted: number): Buffer[] {
  const found: Buffer[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = message.readUInt8(at++);
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const type = tag % 8;
    if (type === 0) varint();
    else if (type === 1) at += 8;
    else if (type === 5) at += 4;
    else {
      const length = varint();
      if (tag >> 3 === wanted) found.push(message.subarray(at, at + length));
      at += length;
    }
  }
  return found;
}
