// Every page there is: a list and its rows as the catalogue says them, but for those made by hand.
import { lists } from '../../../query/lists.ts';
import type { Page } from '../view.ts';
import { alertsPage } from './alerts-page.tsx';
import { dayPage } from './day-page.tsx';
import { figuresPage } from './figures-page.tsx';
import { overviewPage } from './overview-page.tsx';
import { listPages } from './row-page.tsx';
import { settingsPage } from './settings-page.tsx';

const byHand: readonly Page[] = [overviewPage, dayPage, figuresPage, alertsPage, settingsPage];

export const pages: readonly Page[] = [
  ...byHand,
  ...lists.flatMap(listPages).filter(({ path }) => byHand.every((page) => page.path !== path)),
];
