// Every page there is.
import type { Page } from '../view.ts';
import { alertsPage } from './alerts.tsx';
import { certificatesPage } from './certificates.tsx';
import { dayPage } from './day.tsx';
import { factsPage } from './facts.tsx';
import { figuresPage } from './figures.tsx';
import { overviewPage } from './overview.tsx';
import { recordPages } from './record.tsx';
import { runsPage } from './runs.tsx';
import { settingsPage } from './settings.tsx';

export const pages: readonly Page[] = [
  overviewPage,
  dayPage,
  ...recordPages,
  figuresPage,
  runsPage,
  alertsPage,
  certificatesPage,
  factsPage,
  settingsPage,
];
