// The document behind /openapi.json, made of the routes themselves: what checks a parameter also describes it, and the
// tests hold the answers to what stands here.
import * as z from 'zod';
import type { PlatformRoute } from '../platform/platform-route.ts';
import { platformRoutes } from '../platform/platform-routes.ts';
import { nodeProblem } from '../platform/tokens.ts';
import type { Route } from '../v1/archive-route.ts';
import { base, routeGroups } from '../v1/all-routes.ts';
import * as schema from '../v1/answer-schemas.ts';
import { watchBody, watchQuery } from '../v1/watch-route.ts';
import {
  jsonOf,
  parametersOf,
  refusals,
  type OpenApiJson,
  type Parameter,
} from './openapi-parts.ts';

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

function operationOf(
  route: Route,
  group: string,
  isLoopback: boolean,
  schemas: OpenApiJson,
): OpenApiOperation {
  const file = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };
  const lines = { schema: { type: 'string' } };
  const content = route.isEvents
    ? { 'text/event-stream': lines }
    : route.answer === null
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
    security: securityOf('archive', isLoopback),
  };
}

function foreignOf(
  one: PlatformRoute,
  isLoopback: boolean,
  schemas: OpenApiJson,
): OpenApiOperation {
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
    security: securityOf(one.needs, isLoopback),
  };
}

function watchOperation(isLoopback: boolean, schemas: OpenApiJson): OpenApiOperation {
  return {
    operationId: 'watchOperations',
    tags: ['The archive’s own books'],
    summary: 'Ask for the results of these operations until they are final',
    description:
      'There is no list of them: only what is named is asked for. An id may be given twice: it takes another day. The key must have the right to watch. A signature covers the body as one more parameter, body_sha256 (hex of its bytes), and is taken once.',
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
      ...refusals([400, 401, 403, 409, 413, 415, 429], schema.problem, schemas),
    },
    security: securityOf('archive', isLoopback),
  };
}

export type ServerTerms = {
  /** Whether this server takes operations to watch. */
  takesOperations: boolean;
  isLoopback: boolean;
};

export function openApi({ takesOperations, isLoopback }: ServerTerms): Document {
  const schemas: OpenApiJson = {};
  const paths: Document['paths'] = {};
  for (const { name, routes } of routeGroups) {
    for (const route of routes)
      paths[base + route.path] = { get: operationOf(route, name, isLoopback, schemas) };
  }
  if (takesOperations) paths[`${base}/watch`] = { post: watchOperation(isLoopback, schemas) };
  for (const one of platformRoutes) paths[one.path] = { get: foreignOf(one, isLoopback, schemas) };
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
