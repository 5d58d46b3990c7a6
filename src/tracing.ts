// Spans by OpenTelemetry, for whoever sets its variables (docs/monitoring.md, "Traces"). Without them nothing of it is
// loaded, and a span costs one call. No sync fails for want of a collector.
import { setTimeout as wait } from 'node:timers/promises';
import { causeChain, codeOf } from './errors.ts';
import { createLogThrottle, type Log } from './log.ts';

/** By OpenTelemetry's names where it has one, else `outlast.…`. Never a record, a secret or a whole URL (P10). */
type Attributes = Readonly<Record<string, string | number>>;

type TraceSpan = { set(attributes: Attributes): void };

export type SpanOptions = {
  /** `internal` by default: nothing outside this process takes part. */
  kind?: 'client' | 'server';
  attributes?: Attributes;
  /** The headers of a request that may name the span it belongs to; absent: the one around this call. */
  from?: Readonly<Record<string, string | string[] | undefined>>;
};

type InSpan = <T>(
  name: string,
  options: SpanOptions,
  work: (span: TraceSpan) => Promise<T>,
) => Promise<T>;

type Environment = Readonly<Record<string, string | undefined>>;

const nobody: TraceSpan = { set: () => undefined };
const unseen: InSpan = (_name, _options, work) => work(nobody);
let current = unseen;

/** Does the work in a span of its own; spans begun meanwhile lie within it. What `work` throws marks it as failed. */
export const inSpan: InSpan = (name, options, work) => current(name, options, work);

const stopPatienceMs = 2_000;

/**
 * Whether OpenTelemetry's variables ask for spans ("Environment Variable Specification" of its own), or a sentence:
 * they ask for something that is not done here.
 */
export function wantsSpans(env: Environment): boolean | string {
  const given = (name: string): string | null => env[name]?.trim() || null;
  if (given('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return false;
  const exporters = given('OTEL_TRACES_EXPORTER')?.toLowerCase() ?? null;
  const endpoint =
    given('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? given('OTEL_EXPORTER_OTLP_ENDPOINT');
  // Without either the specification would send to a collector on this machine, which hardly anybody has.
  if (exporters === 'none' || (exporters === null && endpoint === null)) return false;
  if (exporters !== null && exporters !== 'otlp') {
    return 'OTEL_TRACES_EXPORTER can be otlp or none';
  }
  const protocol =
    given('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? given('OTEL_EXPORTER_OTLP_PROTOCOL');
  if (protocol !== null && protocol !== 'http/protobuf') {
    return 'OTEL_EXPORTER_OTLP_PROTOCOL can be http/protobuf, which collectors take on port 4318';
  }
  return true;
}

/**
 * Sends spans from now on; the rest of OpenTelemetry's variables is read by its own library from the process. Gives
 * what ends it: it sends what is left, for two seconds at most.
 */
export async function startTracing(
  env: Environment,
  version: string,
  log: Log,
): Promise<() => Promise<void>> {
  const api = await import('@opentelemetry/api');
  const { BatchSpanProcessor, NodeTracerProvider } = await import('@opentelemetry/sdk-trace-node');
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
  const { detectResources, envDetector, resourceFromAttributes } =
    await import('@opentelemetry/resources');

  const given = Number(
    env['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT'] ?? env['OTEL_EXPORTER_OTLP_TIMEOUT'] ?? 0,
  );
  // Its own ten seconds, with an attempt a second, would be waited for at the end of every command.
  const timeoutMillis = given > 0 ? given : stopPatienceMs;
  const isToTell = createLogThrottle();
  const quiet = (): void => undefined;
  const tell = (message: string): void => {
    if (isToTell()) log.warn({ reason: reasonIn(message) }, 'Something is wrong with the traces');
  };
  api.diag.setLogger(
    { error: tell, warn: quiet, info: quiet, debug: quiet, verbose: quiet },
    api.DiagLogLevel.ERROR,
  );
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'outlast',
      'service.version': version,
    }).merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [
      new BatchSpanProcessor(
        new OTLPTraceExporter({
          timeoutMillis,
          // Of two addresses each has half of it; Node's own would be 250 ms.
          httpAgentOptions: { keepAlive: true, autoSelectFamilyAttemptTimeout: timeoutMillis / 2 },
        }),
      ),
    ],
  });
  provider.register();
  const tracer = provider.getTracer('outlast', version);
  const kinds = { client: api.SpanKind.CLIENT, server: api.SpanKind.SERVER };

  current = (name, { kind, attributes = {}, from }, work) => {
    const around = api.context.active();
    return tracer.startActiveSpan(
      name,
      { attributes, kind: kind === undefined ? api.SpanKind.INTERNAL : kinds[kind] },
      from === undefined ? around : api.propagation.extract(around, from),
      async (span) => {
        try {
          return await work({ set: (more) => void span.setAttributes(more) });
        } catch (error) {
          // Not its sentence, which may quote the platform (P10).
          span.setAttribute('error.type', codeOf(error) ?? 'unexpected');
          span.setStatus({ code: api.SpanStatusCode.ERROR });
          throw error;
        } finally {
          span.end();
        }
      },
    );
  };
  return async () => {
    current = unseen;
    const sent = provider.shutdown().catch((error: unknown) => tell(causeChain(error)));
    await Promise.race([sent, wait(stopPatienceMs, undefined, { ref: false })]);
  };
}

/** The exporter's complaint without its stack, which it gives as JSON. */
function reasonIn(message: string): string {
  try {
    const told = JSON.parse(message) as { message?: unknown } | null;
    if (typeof told?.message === 'string') return told.message.slice(0, 200);
  } catch {
    // A sentence of its own.
  }
  return message.slice(0, 200);
}
