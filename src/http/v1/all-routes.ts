// Every route of `/archive/v1` that reads, in the groups in which people look for them.
import { questionNames } from '../../query/lists.ts';
import { changeRoutes } from './changes-routes.ts';
import { figureRoutes } from './figure-routes.ts';
import { nowRoutes } from './now-routes.ts';
import { proofRoutes, rejectRoute } from './proof-routes.ts';
import { questionRoute } from './question-routes.ts';
import { recordRoutes } from './record-routes.ts';
import type { Route } from './archive-route.ts';

export const base = '/archive/v1';

/** What the catalogue has and no other group shows. */
const otherQuestions = questionNames
  .map(questionRoute)
  .filter(({ path }) => ![...proofRoutes, ...nowRoutes].some((route) => route.path === path));

export const routeGroups: readonly { name: string; routes: readonly Route[] }[] = [
  { name: 'Records', routes: [...recordRoutes, ...changeRoutes] },
  { name: 'What is certain', routes: proofRoutes },
  { name: 'What goes on', routes: nowRoutes },
  { name: 'Figures', routes: figureRoutes },
  {
    name: 'The archive’s own books',
    routes: [...otherQuestions, rejectRoute],
  },
];

export const routes: readonly Route[] = routeGroups.flatMap((group) => group.routes);
