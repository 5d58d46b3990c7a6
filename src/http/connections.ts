// The connections of a server that stops. Those that are being answered are waited for; Node closes the ones that were answered, but
// waits a minute for one on which nothing was ever asked, as browsers and balancers open them ahead.
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

export function closeUnasked(app: FastifyInstance): void {
  const unasked = new Set<Socket>();
  let isStopping = false;
  app.server.on('connection', (socket: Socket) => {
    if (isStopping) {
      socket.destroy();
      return;
    }
    unasked.add(socket);
    socket.once('close', () => unasked.delete(socket));
  });
  app.server.on('request', ({ socket }) => unasked.delete(socket));
  app.addHook('preClose', (done) => {
    isStopping = true;
    for (const socket of unasked) socket.destroy();
    done();
  });
}
