// Every route of `/archive/v1` that reads, in the groups in which people look for them.
import { changeRoutes } from './changes-routes.ts';
import { figureRoutes } from './figures.ts';
import { nowRoutes } from './now.ts';
import { proofRoutes, rejectRoute } from './proof.ts';
import { questionRoute } from './question-routes.ts';
import { recordRoutes } from './record-routes.ts';
import type { Route } from './archive-route.ts';

export const base = '/archive/v1';

export const routeGroups: readonly { name: string; routes: readonly Route[] }[] = [
  { name: 'Records', routes: [...recordRoutes, ...changeRoutes] },
  { name: 'What is certain', routes: proofRoutes },
  { name: 'What goes on', routes: nowRoutes },
  { name: 'Figures', routes: figureRoutes },
  {
    name: 'The archive’s own books',
    routes: [
      questionRoute('watchedOperations'),
      questionRoute('runs'),
      questionRoute('rejects'),
      rejectRoute,
    ],
  },
];

export const routes: readonly Route[] = routeGroups.flatMap((group) => group.routes);
