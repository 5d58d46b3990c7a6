// PgBouncer itself, where it is installed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { listenHere } from './loopback.ts';

const program = '/usr/sbin/pgbouncer';
export const hasPgBouncer = existsSync(program);

/**
 * With that configuration, but on a free port and with no Unix socket. It may run as another user than this one, who
 * must be able to read what lies in the folder.
 */
export async function startPgBouncer(
  folder: string,
  configuration: string,
): Promise<{ port: number; close(): Promise<void> }> {
  const probe = await listenHere(createServer());
  await probe.close();
  const { port } = probe;
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(
    file,
    configuration.replace(/^listen_port = .*$/m, `listen_port = ${port}\nunix_socket_dir =`),
  );
  // It refuses to run as root.
  const as = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn(program, [...as, file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  // It is ready when it says so; after that its words are not needed.
  for await (const piece of child.stderr) {
    said += String(piece);
    if (said.includes('process up')) break;
  }
  if (!said.includes('process up')) throw new Error(`PgBouncer did not start: ${said}`);
  return {
    port,
    close: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
