// Servers of tests on a free port of this machine. Needs no test runner.
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

/** `close` waits for nobody who is connected. */
export async function listenHere(
  server: Server,
  host = '127.0.0.1',
): Promise<{ port: number; close: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)));
  });
  server.listen(0, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
