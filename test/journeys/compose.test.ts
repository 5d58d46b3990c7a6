// What the compose file and the image promise to people who run them, read from the files themselves. Whether they
// also start is .ci/compose.sh's question, where a Docker engine is at hand.
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { currentAddress } from '../../src/database-address.ts';
import { readSettings } from '../../src/settings/settings.ts';
import { fileText } from '../support/repository.ts';

const service = z.object({
  user: z.string().optional(),
  environment: z.record(z.string(), z.union([z.string(), z.number()])),
  secrets: z.array(z.string()),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  image: z.string(),
});
const composeFile = z.object({
  services: z.object({ postgres: service, outlast: service }),
  volumes: z.record(z.string(), z.unknown()),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
});

/** Every promise that a compose file breaks. */
function broken(text: string): string[] {
  const { services, volumes, secrets } = composeFile.parse(parse(text));
  const { postgres, outlast } = services;
  const promises: Record<string, boolean> = {
    'Postgres is 17': postgres.image === 'postgres:17',
    'Postgres has a health check over TCP':
      postgres.healthcheck?.test.join(' ').includes('pg_isready -h 127.0.0.1') === true,
    'Outlast waits for a healthy Postgres':
      outlast.depends_on['postgres']?.condition === 'service_healthy',
    'the data is in a named volume': postgres.volumes.some(
      (volume) => (volume.split(':')[0] ?? '') in volumes && volume.endsWith('/postgresql/data'),
    ),
    'the certificates are in a named volume': outlast.volumes.some((volume) => {
      const [name = '', folder] = volume.split(':');
      return name in volumes && folder === outlast.environment['OUTLAST_CERTIFICATES_DIR'];
    }),
    'Outlast is not root': /^[1-9]\d*(:[1-9]\d*)?$/.test(outlast.user ?? ''),
    'ports are published on loopback only': [...postgres.ports, ...outlast.ports].every((port) =>
      port.startsWith('127.0.0.1:'),
    ),
    'no secret stands in the environment': [postgres, outlast].every(({ environment }) =>
      Object.entries(environment).every(
        ([name, value]) =>
          name.endsWith('_FILE') ||
          (!/PASSWORD|SECRET|KEY/.test(name) && !/:\/\/[^/]*:[^/]*@/.test(String(value))),
      ),
    ),
    'every secret file that is named is mounted': [postgres, outlast].every((one) =>
      Object.entries(one.environment)
        .filter(([name]) => name.endsWith('_FILE'))
        .every(([, path]) => {
          const name = String(path).replace('/run/secrets/', '');
          return one.secrets.includes(name) && secrets[name] !== undefined;
        }),
    ),
  };
  return Object.entries(promises).flatMap(([promise, isKept]) => (isKept ? [] : [promise]));
}

describe('docker-compose.yml', () => {
  const text = fileText('docker-compose.yml');

  it('keeps its promises', () => {
    expect(broken(text)).toEqual([]);
  });

  it.each([
    ['Postgres is 17', 'postgres:17', 'postgres:latest'],
    ['Postgres has a health check over TCP', "'-h', '127.0.0.1', ", ''],
    ['Outlast waits for a healthy Postgres', 'service_healthy', 'service_started'],
    ['the data is in a named volume', 'archive:/var', './archive:/var'],
    ['the certificates are in a named volume', 'certificates:/certificates', 'certificates:/else'],
    ['Outlast is not root', "user: '1000:1000'", "user: '0'"],
    ['ports are published on loopback only', "'127.0.0.1:${POSTGRES_PORT", "'${POSTGRES_PORT"],
    ['no secret stands in the environment', 'outlast@postgres:5432', 'outlast:pw@postgres:5432'],
    ['every secret file that is named is mounted', '      - api_key\n', ''],
  ])('would be caught breaking the promise: %s', (promise, kept, sabotaged) => {
    expect(text).toContain(kept);
    expect(broken(text.replace(kept, sabotaged))).toEqual([promise]);
  });

  it('gives Outlast settings that it accepts', () => {
    const { environment } = composeFile.parse(parse(text)).services.outlast;
    const env = Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [
        name,
        // What compose makes of ${NAME:-default} and ${NAME:?sentence} in an empty environment but for the base URL.
        String(value)
          .replaceAll(/\$\{OUTLAST_BASE_URL:\?[^}]*\}/g, 'https://platform.example')
          .replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1'),
      ]),
    );
    const { projects, database } = readSettings(
      { needs: 'platform', readFile: (path) => `text-of-${path.replaceAll('/', '-')}\n` },
      env,
    );
    expect(projects).toMatchObject([{ id: 'default', baseUrl: 'https://platform.example' }]);
    const address = database.kind === 'url' ? currentAddress(database.url) : null;
    expect(address).toBe(
      'postgres://outlast:text-of--run-secrets-postgres_password@postgres:5432/outlast',
    );
  });
});

describe('the image', () => {
  const lines = fileText('Dockerfile').split('\n');
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));

  it('runs as a numbered user that is not root', () => {
    expect(last.find((line) => line.startsWith('USER '))).toMatch(/^USER [1-9]\d*:[1-9]\d*$/);
  });

  it('starts the service with node itself, so that SIGTERM arrives, and has a health check', () => {
    expect(last).toContain('ENTRYPOINT ["node", "dist/src/main.js"]');
    expect(last).toContain('CMD ["start"]');
    expect(last.some((line) => line.startsWith('HEALTHCHECK '))).toBe(true);
  });

  it('holds neither the tools of development nor the embedded Postgres', () => {
    expect(lines.some((line) => line.includes('npm ci --omit=dev --omit=optional'))).toBe(true);
    expect(last.join('\n')).not.toContain('/build/node_modules');
  });

  it('is built from what the Dockerfile names and nothing else', () => {
    const ignore = fileText('.dockerignore')
      .split('\n')
      .filter((line) => /^[^#]/.test(line));
    expect(ignore[0]).toBe('*');
    const copied = lines
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from'))
      .flatMap((line) => line.split(' ').slice(1, -1));
    expect(new Set(ignore.filter((line) => line.startsWith('!')))).toEqual(
      new Set(copied.map((path) => `!${path}`)),
    );
  });
});
