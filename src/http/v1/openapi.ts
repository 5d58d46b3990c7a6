// The document behind /openapi.json, made of the routes themselves: what checks a parameter also describes it, and the tests hold
// the answers to what stands here.
import * as z from 'zod';
import { watchBody } from '../watch.ts';
import { described, type Described } from './drop-in.ts';
import { base, groups } from './routes.ts';
import type { Route } from './route.ts';
import * as schema from './schemas.ts';
import { watchQuery } from './watch.ts';

export type Json = { [name: string]: unknown };

export type Parameter = {
  name: string;
  in: 'path' | 'query';
  required: boolean;
  description?: string;
  schema: Json;
  style?: 'form';
  explode?: false;
};

export type Operation = {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters: Parameter[];
  requestBody?: Json;
  responses: { [status: string]: Json };
  security: { [scheme: string]: never[] }[];
};

export type Document = {
  openapi: '3.1.0';
  info: Json;
  tags: { name: string }[];
  paths: { [path: string]: { get?: Operation; post?: Operation } };
  components: { securitySchemes: Json; schemas: Json };
};

/**
 * A schema as OpenAPI has it; what has a name of its own goes to `schemas`. Parameters are described as they are once they are
 * read; answers stay open, for fields may be added to them.
 */
function jsonOf(of: z.ZodType, schemas: Json, io: 'input' | 'output' = 'input'): Json {
  const { $schema: _, $defs, ...rest } = z.toJSONSchema(of, { io }) as Json & { $defs?: Json };
  const moved = (json: unknown): unknown =>
    JSON.parse(JSON.stringify(json).replaceAll('"#/$defs/', '"#/components/schemas/'));
  for (const [name, one] of Object.entries($defs ?? {})) {
    const { id: __, ...named } = one as Json;
    schemas[name] = moved(named);
  }
  const { id, ...plain } = moved(rest) as Json;
  if (typeof id !== 'string') return plain;
  schemas[id] = plain;
  return { $ref: `#/components/schemas/${id}` };
}

function parametersOf(inPath: z.ZodObject, inQuery: z.ZodObject): Parameter[] {
  const of = (place: 'path' | 'query', object: z.ZodObject): Parameter[] => {
    const { properties = {}, required = [] } = jsonOf(object, {}, 'output') as {
      properties?: { [name: string]: Json };
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
  403: 'The key is wrong, or you may not read this project',
  404: 'The archive holds no such thing',
  406: 'Accept allows none of the forms there are',
  408: 'The request did not come in time',
  413: 'The body is too large',
  415: 'The body is no JSON',
  431: 'The request is too long',
  500: 'Something went wrong here',
  503: 'The archive cannot be reached, or the query took too long: try again later',
};
const nodeProblem = z.object({ error: z.string() });

function refusals(statuses: readonly number[], problem: z.ZodType, schemas: Json) {
  const of = (some: readonly number[], shape: z.ZodType) => {
    const content = { 'application/json': { schema: jsonOf(shape, schemas) } };
    return some.map((status) => [String(status), { description: sentences[status], content }]);
  };
  // What never became a request has no path, and the server's own shape.
  return Object.fromEntries([
    ...of([...statuses, 500, 503], problem),
    ...of([408, 431], schema.problem),
  ]) as { [status: string]: Json };
}

const security = {
  archive: [{}, { bearer: [] }, { key: [], timestamp: [], signature: [] }],
  signature: [{}, { key: [], timestamp: [], signature: [] }],
  key: [{}, { key: [] }],
  nothing: [],
};

function operationOf(route: Route, group: string, schemas: Json): Operation {
  const file = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };
  const lines = { schema: { type: 'string' } };
  const content =
    route.answer === null
      ? file
      : {
          'application/json': { schema: jsonOf(route.answer, schemas) },
          ...('format' in route.inQuery.shape
            ? { 'application/x-ndjson': lines, 'text/csv': lines }
            : {}),
        };
  return {
    operationId: route.name,
    tags: [group],
    summary: route.summary,
    ...(route.about === '' ? {} : { description: route.about }),
    parameters: parametersOf(route.inPath, route.inQuery),
    responses: {
      200: { description: route.summary, content },
      304: { description: 'What If-None-Match names is still so' },
      ...refusals(
        [400, 401, 403, ...(route.mayBeAbsent ? [404] : []), 406],
        schema.problem,
        schemas,
      ),
    },
    security: security.archive,
  };
}

function foreignOf(one: Described, schemas: Json): Operation {
  return {
    operationId: one.name,
    tags: [one.group],
    summary: one.summary,
    ...(one.about === '' ? {} : { description: one.about }),
    parameters: parametersOf(one.inPath, one.inQuery),
    responses: {
      200: {
        description: one.summary,
        content: { 'application/json': { schema: jsonOf(one.answer, schemas) } },
      },
      ...refusals(one.refusals, one.isNodes ? nodeProblem : schema.problem, schemas),
    },
    security: security[one.needs],
  };
}

function watchOperation(schemas: Json): Operation {
  return {
    operationId: 'watchOperations',
    tags: ['The archive’s own books'],
    summary: 'Ask for the results of these operations until they are final',
    description:
      'There is no list of them: only what is named is asked for. An id may be given twice.',
    parameters: parametersOf(z.strictObject({}), watchQuery),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: jsonOf(watchBody, schemas) } },
    },
    responses: {
      200: {
        description: 'They are watched',
        content: { 'application/json': { schema: jsonOf(schema.watched, schemas) } },
      },
      ...refusals([400, 401, 403, 413, 415], schema.problem, schemas),
    },
    security: security.archive,
  };
}

/** `takesOperations`: whether this server takes operations to watch. */
export function openApi(takesOperations: boolean): Document {
  const schemas: Json = {};
  const paths: Document['paths'] = {};
  for (const { name, routes } of groups) {
    for (const route of routes)
      paths[base + route.path] = { get: operationOf(route, name, schemas) };
  }
  if (takesOperations) paths[`${base}/watch`] = { post: watchOperation(schemas) };
  for (const one of described) paths[one.path] = { get: foreignOf(one, schemas) };
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
    tags: [...new Set(operations.flatMap(({ tags }) => tags))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'Opens /archive/v1 only' },
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
