// What the server is told before every start: its settings, and the port it listens on.
import { createHash } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fatal } from '../../errors.ts';
import { textOfFile } from '../../files.ts';
import type { Log } from '../../log.ts';
import { writeFor } from './account.ts';
import type { Home } from './home.ts';

/** Writes the settings for the next start. Users' own belong into `alter system`, which stands above these. */
export async function writeSettings(
  home: Home,
  port: number,
  extra: Record<string, string>,
): Promise<void> {
  const settings: Record<string, string> = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '100',
    password_encryption: 'scram-sha-256',
    // P1, P3: what was committed is on the disk.
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    shared_buffers: '128MB',
    dynamic_shared_memory_type: await sharedMemoryType(),
    max_wal_size: '1GB',
    wal_compression: 'on',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    // A file a weekday, each emptied when its day comes round again: the log does not grow for ever.
    logging_collector: 'on',
    log_directory: '../log',
    log_filename: 'server-%a.log',
    log_rotation_age: '1d',
    log_rotation_size: '0',
    log_truncate_on_rotation: 'on',
    log_checkpoints: 'off',
    log_line_prefix: '%m [%p] ',
    ...extra,
  };
  const lines = Object.entries(settings).map(
    ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`,
  );
  const text = [
    '# Written by Outlast at every start. For settings of your own: alter system.',
    ...lines,
    '',
  ];
  await writeFor(home.account, join(home.pgdata, 'postgresql.conf'), text.join('\n'));
}

/** Parallel queries take shared memory from /dev/shm, which is 64 MB in containers; files do as well there. */
async function sharedMemoryType(): Promise<string> {
  if (process.platform === 'win32') return 'windows';
  if (process.platform !== 'linux') return 'posix';
  const { bsize, blocks } = await statfs('/dev/shm').catch(() => ({ bsize: 0, blocks: 0 }));
  return bsize * blocks >= 512 * 1024 * 1024 ? 'posix' : 'mmap';
}

/**
 * The port for the next start: the one used last while it is free, so that a BI tool's settings hold;
 * else one that follows from the home's id, below the ports that systems hand out by themselves.
 */
export async function choosePort(home: Home, log: Log): Promise<number> {
  const path = join(home.folder, 'port');
  const last = Number(await textOfFile(path));
  if (last > 0 && (await isFree(last))) return last;
  const first = 15_000 + (createHash('sha256').update(home.id).digest().readUInt16BE(0) % 15_000);
  // Ends: 200 tries.
  for (let port = first; port < first + 200; port++) {
    if (!(await isFree(port))) continue;
    await writeFor(home.account, path, `${port}\n`);
    if (last > 0)
      log.warn(
        { was: last, port },
        'The embedded Postgres has a new port: another program took its own',
      );
    return port;
  }
  throw fatal(
    'embedded_start_failed',
    `No port from ${first} to ${first + 199} is free for the embedded Postgres.`,
  );
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () =>
      probe.close(() => resolve(true)),
    );
  });
}
