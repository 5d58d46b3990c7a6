// The pieces of which /openapi.json is made: schemas as OpenAPI has them, parameters, refusals.
import * as z from 'zod';
import * as schema from '../v1/answer-schemas.ts';

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

/**
 * A schema as OpenAPI has it; what has a name of its own goes to `schemas`. Parameters are described as they are once
 * they are read; answers stay open, for fields may be added to them.
 */
export function jsonOf(
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

export function parametersOf(inPath: z.ZodObject, inQuery: z.ZodObject): Parameter[] {
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

export function refusals(statuses: readonly number[], problem: z.ZodType, schemas: OpenApiJson) {
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
