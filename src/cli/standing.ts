// What `status`, `status --check` and the demo show of each project: what is held, its days, and a forecast.
import { safetyOf, type Safety } from '../http/web/headline.ts';
import type { ProjectId } from '../model.ts';
import { createLists } from '../query/ask-question.ts';
import { calendarOf, type CalendarMonth } from '../query/day-marks.ts';
import { readStatus, type ProjectStatus } from '../query/status.ts';
import type { Settings } from '../settings/settings.ts';
import type { ProblemReport } from '../store/alerts/problem-rows.ts';
import type { Queryable } from '../store/db.ts';
import { risksOf, type ProjectForecast } from '../sync/read-forecast.ts';
import { wantedProjects } from './open-store.ts';
import { readForecasts } from './forecast-lines.ts';

export type Standing = {
  status: ProjectStatus;
  forecast: ProjectForecast;
  /** Of all its days: their rows are many, where there are many projects. */
  calendar: CalendarMonth[];
  safety: Safety;
};

/**
 * Of all projects, or of one; `risks`: what is at risk in each, by a forecast of this moment. Throws settings
 * `unknown_project`: a misspelt name must not pass for an empty archive.
 */
export async function readStandings(
  db: Queryable,
  project: ProjectId | undefined,
  settings: Pick<Settings, 'deadlineMarginMs' | 'refreshMs'>,
): Promise<{ standings: Standing[]; risks: ReadonlyMap<string, ProblemReport[]> }> {
  const forecasts = await readForecasts(db, await wantedProjects(db, project), settings);
  const risks = new Map([...forecasts].map(([id, one]) => [id, risksOf(one, one.now)]));
  const lists = createLists(db);
  const standings: Standing[] = [];
  for (const status of await readStatus(db, project, risks)) {
    const forecast = forecasts.get(status.project_id);
    // It was entered a moment ago.
    if (forecast === undefined) continue;
    const coverage = await lists.coverage({ project: status.project_id });
    const safety = safetyOf(coverage, forecast.now);
    standings.push({ status, forecast, calendar: calendarOf(coverage), safety });
  }
  return { standings, risks };
}
