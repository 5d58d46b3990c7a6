// The settings in force: each with what it is and where it came from, and nothing of a secret.
import { expect, test } from 'vitest';
import { settingsInForce, settingsOfDemo } from '../../src/settings/in-force.ts';
import { settings } from '../../src/settings/table.ts';

const noFile = (): string => {
  throw Object.assign(new Error('no'), { code: 'ENOENT' });
};

test('say what is in force, and where it came from', () => {
  const own = { OUTLAST_PORT: '9090', OUTLAST_HOST: '', DATABASE_PASSWORD_FILE: '/run/password' };
  const file = 'OUTLAST_PORT=1\nOUTLAST_MAX_RPS=3\nOUTLAST_API_KEY=key\n';
  const found = settingsInForce(undefined, own, () => file);
  expect(found.map(({ name }) => name)).toEqual(settings.map(({ name }) => name));
  const told = new Map(found.map(({ name, value, from }) => [name, [value, from]]));
  expect(Object.fromEntries(told)).toMatchObject({
    OUTLAST_PORT: ['9090', 'environment'],
    OUTLAST_MAX_RPS: ['3', 'file'],
    OUTLAST_HOST: ['127.0.0.1', 'default'],
    OUTLAST_HEADS_DIR: [null, 'default'],
    OUTLAST_API_KEY: ['set', 'file'],
    OUTLAST_API_SECRET: ['not set', 'default'],
    DATABASE_PASSWORD: ['set', 'file'],
  });
  expect(found.every(({ meaning }) => meaning !== '')).toBe(true);
  expect(settingsInForce(undefined, { OUTLAST_PORT: '1' }, noFile)).toEqual(
    settingsInForce({ OUTLAST_PORT: '1' }),
  );
});

test('of a demo are said to be its own', () => {
  const found = settingsOfDemo({ OUTLAST_PORT: '0' });
  const from = new Map(found.map((one) => [one.name, one.from]));
  expect([from.get('OUTLAST_PORT'), from.get('OUTLAST_HOST')]).toEqual(['demo', 'default']);
});

// P10
test('hold nothing of a secret, by value or by file', () => {
  const marker = 'Sesame-Sesame-77';
  const secrets = settings.filter(({ about }) => about.secret === true).map(({ name }) => name);
  expect(secrets.length).toBeGreaterThan(6);
  const given = Object.fromEntries(
    secrets.map((name) => [
      name,
      name.endsWith('_URL') ? `postgres://me:${marker}@h/${marker}` : marker,
    ]),
  );
  const byFile = Object.fromEntries(secrets.map((name) => [`${name}_FILE`, `/run/${marker}`]));
  const text = Object.entries(given)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
  for (const found of [
    settingsInForce(given),
    settingsInForce(byFile),
    settingsInForce(undefined, given, noFile),
    settingsInForce(undefined, {}, () => text),
  ]) {
    expect(JSON.stringify(found)).not.toContain(marker);
    const told = found.filter(({ isSecret }) => isSecret);
    expect(told.map(({ name, value }) => [name, value])).toEqual(
      secrets.map((name) => [name, 'set']),
    );
  }
});
