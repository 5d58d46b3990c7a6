// Which projects the archive knows, for whoever has not said which one is meant.
import type { ProjectId } from '../model.ts';
import type { Reader } from './reader.ts';

export async function readProjects(reader: Reader): Promise<ProjectId[]> {
  const { rows } = await reader.query<{ project_id: ProjectId }>(
    'select project_id from analytics.projects order by project_id',
  );
  return rows.map((row) => row.project_id);
}
