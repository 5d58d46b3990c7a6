// The settings in force, for whoever runs the service: what each is and where it came from, and of a secret no more
// than whether it is set (P10).
import type { SettingInForce } from '../model.ts';
import {
  environmentWithFile,
  readSmallFile,
  type Environment,
  type ReadFile,
} from './environment.ts';
import { ownEnvironment } from './settings.ts';
import { settings } from './table.ts';

/** Those of a demo, which takes none from elsewhere. */
export const settingsOfDemo = (given: Environment): SettingInForce[] =>
  settingsInForce(given).map((one) =>
    one.from === 'environment' ? { ...one, from: 'demo' } : one,
  );

/**
 * In the table's order. `given` stands for the whole environment, without a file of settings. Throws what
 * `environmentWithFile` throws.
 */
export function settingsInForce(
  given?: Environment,
  own: Environment = given ?? ownEnvironment(),
  readFile: ReadFile = readSmallFile,
): SettingInForce[] {
  const all = given ?? environmentWithFile(own, readFile);
  const valueIn = (env: Environment, name: string): string | null => env[name] || null;
  return settings.map(({ name, about }) => {
    const isSecret = about.secret === true;
    const meaning = about.sentence;
    const byFile = isSecret && valueIn(all, `${name}_FILE`) !== null;
    const value = valueIn(all, name);
    const isSet = byFile || value !== null;
    const isOwn = !byFile && valueIn(own, name) !== null;
    return {
      name,
      value: isSecret ? (isSet ? 'set' : 'not set') : (value ?? about.default),
      from: isOwn ? 'environment' : isSet ? 'file' : 'default',
      isSecret,
      meaning,
    };
  });
}
