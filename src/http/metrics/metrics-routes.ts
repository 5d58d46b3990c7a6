// `/metrics`, as Prometheus asks for it: what this process counts, and how the archive stands. Who may read the archive
// over HTTP may read them, of the projects that the key opens; nobody else, for project names and counts tell what
// somebody does (docs/http.md, "Who may read").
import type { FastifyInstance } from 'fastify';
import type { ProjectId } from '../../model.ts';
import { targetOf } from '../../platform/target.ts';
import { sendAnswer } from '../http-answers.ts';
import { openedTo } from '../gate.ts';
import type { Serving } from '../serving.ts';
import { addArchiveMetrics, type ArchiveMetrics } from './archive-gauges.ts';
import type { ProcessMetrics } from './process-metrics.ts';

export type MetricsOptions = ProcessMetrics & Omit<ArchiveMetrics, 'projects'>;

export function addMetrics(app: FastifyInstance, metrics: MetricsOptions, serving: Serving): void {
  const { registry } = metrics;
  const { gate, now } = serving;
  const refresh = addArchiveMetrics(registry, { ...metrics, projects: gate.projects });
  app.get('/metrics', async (request, reply) => {
    void reply.header('cache-control', 'no-store');
    try {
      const target = targetOf(request.raw.url ?? '/');
      const { projects } = openedTo(gate, target, request.headers, now());
      await refresh();
      const text = onlyOf(projects, await registry.metrics());
      return await reply.header('content-type', registry.contentType).send(text);
    } catch (error) {
      return sendAnswer(reply, serving.answerOf(error));
    }
  });
}

/** Without the lines of other projects. A project's name needs no escaping there. */
const onlyOf = (projects: readonly ProjectId[], text: string): string =>
  text
    .split('\n')
    .filter((line) => {
      const [, project] = /^\w+\{(?:.*,)?project="([^"]*)"/.exec(line) ?? [];
      return project === undefined || projects.includes(project);
    })
    .join('\n');
