// The routes of what is certain: coverage day by day, sums of it, and what was observed of the platform. They tell of now only.
import * as z from 'zod';
import { listedResources } from '../../model.ts';
import type { CoverageDay } from '../../query/types.ts';
import * as parameter from './parameters.ts';
import { present, route, type Route } from './route.ts';
import * as schema from './schemas.ts';

export const resource = parameter
  .oneOf(listedResources)
  .optional()
  .describe('One of the two lists; both unless told');

const coverageFields: readonly (keyof CoverageDay)[] = [
  'project',
  'resource',
  'owner',
  'day',
  'state',
  'proof',
  'provedAt',
  'walkedAt',
  'platformTotal',
  'shownTotal',
  'unresolved',
  'rejected',
  'deadlineAt',
  'reservations',
  'lastError',
];
const summaryFields = [
  'project',
  'resource',
  'records',
  'oldestDay',
  'newestDay',
  'days',
  'reserved',
  'unresolved',
  'rejected',
  'nextDeadlineAt',
];

export const proofRoutes: readonly Route[] = [
  route({
    path: '/projects',
    name: 'listProjects',
    summary: 'The projects you may read',
    needs: 'none',
    isList: true,
    answer: schema.listOf(z.object({ project: schema.textValue })),
    read: async (_, { projects }) => ({
      kind: 'rows',
      rows: projects.toSorted().map((project) => ({ project })),
      fields: ['project'],
    }),
  }),
  route({
    path: '/coverage',
    name: 'listCoverage',
    summary: 'What is certain, day by day',
    about:
      'One entry a day (and owner): state, proof, both totals and reservations. A figure is as good as the coverage of its days.',
    isList: true,
    inQuery: { resource, ...parameter.days },
    answer: schema.listOf(schema.coverageDay),
    read: async ({ resource: only, from, to }, { archive, project, classesOf }) => {
      const days = present({ from, to });
      const rows: CoverageDay[] = [];
      for (const one of listedResources) {
        if (only !== undefined && only !== one) continue;
        const of = one === 'nft_classes' ? classesOf(project) : project;
        rows.push(...(await archive.coverage({ project: of, resource: one, ...days })));
      }
      return { kind: 'rows', rows, fields: coverageFields };
    },
  }),
  route({
    path: '/summary',
    name: 'listSummaries',
    summary: 'How each list of each project stands',
    needs: 'none',
    isList: true,
    answer: schema.listOf(schema.summary),
    read: async (_, { archive, projects }) => {
      const rows = [];
      for (const project of projects) rows.push(...(await archive.summary({ project })));
      return { kind: 'rows', rows, fields: summaryFields };
    },
  }),
  route({
    path: '/facts',
    name: 'getFacts',
    summary: 'What was observed of the platform',
    about: 'By name, for example `orders.day_end`: how it reads an end date.',
    answer: z.object({
      project: schema.textValue,
      facts: z.record(z.string(), schema.textValue),
    }),
    read: async (_, { archive, project }) => {
      const facts = await archive.facts({ project });
      return { kind: 'object', json: JSON.stringify({ project, facts }) };
    },
  }),
];
