// The settings of the demo and its time-lapse. They take nothing from the environment: they must not touch a real
// project.
import type { Environment } from '../settings/environment.ts';
import { settingsOfDemo } from '../settings/in-force.ts';
import { forgetProxies, readSettings } from '../settings/settings.ts';

/** Of the simulated platform's one project. */
const key = { apiKey: 'demo-key', apiSecret: 'demo-secret-of-no-value' };
export const demoProjects = [{ name: 'demo', ...key }];

/** `inForce`: what HTTP shows of them. */
export function readDemoSettings(baseUrl: string, dataDir: string, more: Environment) {
  const environment: Environment = {
    OUTLAST_PROJECT: 'demo',
    OUTLAST_BASE_URL: baseUrl,
    OUTLAST_API_KEY: key.apiKey,
    OUTLAST_API_SECRET: key.apiSecret,
    OUTLAST_DATA_DIR: dataDir,
    OUTLAST_CERTIFICATES_DIR: `${dataDir}/certificates`,
    OUTLAST_PORT: '0',
    OUTLAST_LOG_LEVEL: 'error',
    ...more,
  };
  forgetProxies();
  const settings = readSettings({ needs: 'platform' }, environment);
  const [project] = settings.projects;
  if (project === undefined) throw new Error('the demo has one project');
  return { settings, project, inForce: settingsOfDemo(environment) };
}
