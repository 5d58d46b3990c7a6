// Which projects a command is about: those in the archive, or the one it was told.
import { settingsError } from '../errors.ts';
import type { ProjectId } from '../model.ts';
import type { Queryable } from '../store/db.ts';
import { projectIds } from '../store/projects.ts';

/** Throws settings `unknown_project` for one that nothing is archived for. */
export async function wantedProjects(
  db: Queryable,
  project: ProjectId | undefined,
): Promise<ProjectId[]> {
  const known = await projectIds(db);
  if (project === undefined) return known;
  if (known.includes(project)) return [project];
  throw settingsError('unknown_project', `Nothing is archived for a project "${project}" here.`);
}
