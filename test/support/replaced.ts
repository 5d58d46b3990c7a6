// Something of this process in another's place for a while: of its globals, or of a module of Node's own.
import { syncBuiltinESMExports } from 'node:module';

/** Returns what puts the property back as it was. */
export function replace(of: object, name: string, value: unknown): () => void {
  const was = Object.getOwnPropertyDescriptor(of, name);
  if (was === undefined) throw new Error(`there is no ${name} to replace`);
  Object.defineProperty(of, name, { value, configurable: true, enumerable: true, writable: true });
  return () => void Object.defineProperty(of, name, was);
}

/**
 * The same of a module of Node's own, by its default export: whoever has imported the name calls the new one. Vitest's
 * mocks would need a process of their own, which loads everything anew.
 */
export function replaceInModule(of: object, name: string, value: unknown): () => void {
  const putBack = replace(of, name, value);
  syncBuiltinESMExports();
  return () => {
    putBack();
    syncBuiltinESMExports();
  };
}
