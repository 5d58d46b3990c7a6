// The document behind /openapi.json, made of the routes themselves: what checks a parameter also describes it, and the
// tests hold the answers to what stands here.
import * as z from 'zod';
import { platformRoutes } from '../platform/platform-routes.ts';
import { nodeProblem } from '../platform/platform-records.ts';
import type { Route } from '../v1/route.ts';
import { base, routeGroups } from '../v1/all-routes.ts';
import * as schema from '../v1/answer-schemas.ts';
import { watchBody, watchQuery } from '../v1/watch-route.ts';

export type OpenApiJson = { [name: string]: unknown };

export type Parameter = {
  name: string;
  in: 'path' | 'query';
  required: boolean;
  description?: string;
  schema: OpenApiJson;
  style?: 'form';
  explode?: false;
};

export type OpenApiOperation = {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters: Parameter[];
  requestBody?: OpenApiJson;
  responses: { [status: string]: OpenApiJson };
  security: { [scheme: string]: never[] }[];
};

export type Document = {
  openapi: '3.1.0';
  info: OpenApiJson;
  servers: { url: string }[];
  tags: { name: string }[];
  paths: { [path: string]: { get?: OpenApiOperation; post?: OpenApiOperation } };
  components: { securitySchemes: OpenApiJson; schemas: OpenApiJson };
};

const lines = { schema: { type: 'string' } };

const signed = { key: [], timestamp: [], signature: [] };
const keysOf = {
  archive: [{ bearer: [] }, signed],
  signature: [signed],
  key: [{ key: [] }],
  nothing: [],
};
type Needs = keyof typeof keysOf;

/** Bound to loopback nobody needs a key. */
const securityOf = (needs: Needs, isLoopback: boolean): OpenApiOperation['security'] =>
  needs === 'nothing' || !isLoopback ? keysOf[needs] : [{}, ...keysOf[needs]];

type Described = Pick<Route, 'name' | 'summary' | 'about' | 'inPath' | 'inQuery'>;

const watching: Described = {
  name: 'watchOperations',
  summary: 'Ask for the results of these operations until they are final',
  about:
    'There is no list of them: only what is named is asked for. An id may be given twice: it takes another day. The key must have the right to watch. A signature covers the body as one more parameter, body_sha256 (hex of its bytes), and is taken once.',
  inPath: z.strictObject({}),
  inQuery: watchQuery,
};

export type ServerTerms = {
  /** Whether this server takes operations to watch. */
  takesOperations: boolean;
  isLoopback: boolean;
};

export function openApi({ takesOperations, isLoopback }: ServerTerms): Document {
  const schemas: OpenApiJson = {};
  const paths: Document['paths'] = {};
  const json = (of: z.ZodType) => ({ 'application/json': { schema: jsonOf(of, schemas) } });
  const operation = (
    { name, summary, about, inPath, inQuery }: Described,
    group: string,
    content: OpenApiJson,
    statuses: readonly number[],
    { needs = 'archive', problem = schema.problem }: { needs?: Needs; problem?: z.ZodType } = {},
  ): OpenApiOperation => ({
    operationId: name,
    tags: [group],
    summary,
    ...(about === '' ? {} : { description: about }),
    parameters: parametersOf(inPath, inQuery),
    responses: {
      200: { description: summary, content },
      ...refusals(statuses, problem, schemas),
    },
    security: securityOf(needs, isLoopback),
  });
  for (const { name, routes } of routeGroups) {
    for (const route of routes) {
      const { answer, isEvents, inQuery, mayBeAbsent } = route;
      const content = isEvents
        ? { 'text/event-stream': lines }
        : answer === null
          ? { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } }
          : {
              ...json(answer),
              ...('format' in inQuery.shape
                ? { 'application/x-ndjson': lines, 'text/csv': lines }
                : {}),
            };
      const get = operation(route, name, content, [
        400,
        401,
        403,
        ...(mayBeAbsent ? [404] : []),
        406,
      ]);
      get.responses['304'] = { description: 'What If-None-Match names is still so' };
      paths[base + route.path] = { get };
    }
  }
  if (takesOperations) {
    const statuses = [400, 401, 403, 409, 413, 415, 429];
    const post = operation(watching, 'The archive’s own books', json(schema.watched), statuses);
    post.requestBody = { required: true, content: json(watchBody) };
    paths[`${base}/watch`] = { post };
  }
  for (const route of platformRoutes) {
    const problem = route.isNodes ? nodeProblem : schema.problem;
    const of = { needs: route.needs, problem };
    const get = operation(route, route.group, json(route.answer), route.refusals, of);
    paths[route.path] = { get };
  }
  const operations = Object.values(paths).flatMap(({ get, post }) => get ?? post ?? []);
  const header = (name: string, description: string) => ({
    type: 'apiKey',
    in: 'header',
    name,
    description,
  });
  return {
    openapi: '3.1.0',
    info: {
      title: 'Outlast',
      version: 'v1',
      summary:
        'An archive of orders, NFT classes, transaction results and tokens, and what is certain of it',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // Relative to this document, so that a path which a reverse proxy puts before ours is kept.
    servers: [{ url: '.' }],
    tags: [...new Set(operations.flatMap(({ tags }) => tags))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'Opens /archive/v1, and /metrics' },
        key: header('X-Api-Key', 'The reader’s id, or the project’s own key'),
        timestamp: header(
          'X-Timestamp',
          'Milliseconds since 1970 (or seconds), at most 15 minutes off',
        ),
        signature: header(
          'X-Signature',
          'Lower-case hex SHA-256 of parameters, timestamp and secret, as the platform asks for it',
        ),
      },
      schemas,
    },
  };
}

/**
 * A schema as OpenAPI has it; what has a name of its own goes to `schemas`. Parameters are described as they are once
 * they are read; answers stay open, for fields may be added to them.
 */
function jsonOf(
  of: z.ZodType,
  schemas: OpenApiJson,
  io: 'input' | 'output' = 'input',
): OpenApiJson {
  const {
    $schema: _,
    $defs,
    ...rest
  } = z.toJSONSchema(of, { io }) as OpenApiJson & { $defs?: OpenApiJson };
  const moved = (json: unknown): unknown =>
    JSON.parse(JSON.stringify(json).replaceAll('"#/$defs/', '"#/components/schemas/'));
  for (const [name, one] of Object.entries($defs ?? {})) {
    const { id: __, ...named } = one as OpenApiJson;
    schemas[name] = moved(named);
  }
  const { id, ...plain } = moved(rest) as OpenApiJson;
  if (typeof id !== 'string') return plain;
  schemas[id] = plain;
  return { $ref: `#/components/schemas/${id}` };
}

function parametersOf(inPath: z.ZodObject, inQuery: z.ZodObject): Parameter[] {
  const of = (place: 'path' | 'query', object: z.ZodObject): Parameter[] => {
    const { properties = {}, required = [] } = jsonOf(object, {}, 'output') as {
      properties?: { [name: string]: OpenApiJson };
      required?: string[];
    };
    return Object.entries(properties).map(([name, { description, ...rest }]) => ({
      name,
      in: place,
      required: required.includes(name),
      ...(typeof description === 'string' ? { description } : {}),
      schema: rest,
      // Several stand in one parameter, with commas between them.
      ...(rest['type'] === 'array' ? { style: 'form' as const, explode: false as const } : {}),
    }));
  };
  return [...of('path', inPath), ...of('query', inQuery)];
}

const sentences: Record<number, string> = {
  400: 'Something is wrong with the request; the sentence says what is allowed',
  401: 'A key is needed',
  403: 'The key is wrong, or may not do this in this project',
  404: 'The archive holds no such thing',
  406: 'Accept allows none of the forms there are',
  408: 'The request did not come in time',
  409: 'This signed request was taken before: sign it anew',
  413: 'The body is too large',
  415: 'The body is no JSON',
  429: 'Too many operations of the project are open: try again when some are done',
  431: 'The request is too long',
  500: 'Something went wrong here',
  503: 'The archive cannot be reached, or the query took too long: try again later',
};

function refusals(statuses: readonly number[], problem: z.ZodType, schemas: OpenApiJson) {
  const of = (some: readonly number[], shape: z.ZodType) => {
    const content = { 'application/json': { schema: jsonOf(shape, schemas) } };
    return some.map((status) => [String(status), { description: sentences[status], content }]);
  };
  // What never became a request has no path, and the server's own shape.
  return Object.fromEntries([
    ...of([...statuses, 500, 503], problem),
    ...of([408, 431], schema.problem),
  ]) as { [status: string]: OpenApiJson };
}
