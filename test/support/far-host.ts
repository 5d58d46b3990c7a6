// A server that is far away: its handshake takes about a second, so that an attempt of 250 ms reaches it never. A
// thread that takes no connections and has its queue full leaves the first packet of another without an answer; when
// it goes on, the packet that is sent again after a second gets one. What connects is led on to a server nearby.
import dns from 'node:dns';
import { once } from 'node:events';
import { connect, isIP } from 'node:net';
import { Worker } from 'node:worker_threads';
import { replaceInModule } from './replaced.ts';

/** A name for `addresses`, until it is put back. `onAsked` is told of each look-up. */
export function nameHost(name: string, addresses: string[], onAsked = (): void => undefined) {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const own = dns.lookup as (...args: unknown[]) => void;
  const lookup = (host: string, options: dns.LookupOptions, done: (...args: unknown[]) => void) => {
    if (host !== name) return own(host, options, done);
    onAsked();
    const [first] = found;
    setImmediate(() =>
      options.all === true ? done(null, found) : done(null, first?.address, first?.family),
    );
  };
  return replaceInModule(dns, 'lookup', lookup);
}

const thread = `
const { connect, createServer } = require('node:net');
const { parentPort, workerData: { port, gate } } = require('node:worker_threads');
const server = createServer((socket) => {
  const onward = connect(port, '127.0.0.1');
  socket.on('error', () => onward.destroy()).pipe(onward);
  onward.on('error', () => socket.destroy()).pipe(socket);
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  parentPort.postMessage(server.address().port);
  Atomics.wait(new Int32Array(gate), 0, 0);
});`;

/** Far until half a second after `near` was called, on 127.0.0.1; it leads to `port`. */
export async function startFarHost(
  port: number,
): Promise<{ port: number; near: () => void; close: () => Promise<void> }> {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(thread, { eval: true, workerData: { port, gate: gate.buffer } });
  const [own] = (await once(worker, 'message')) as [number];
  // More than fit: the last of them stands for all that come.
  const full = Array.from({ length: 3 }, () =>
    connect(own, '127.0.0.1').on('error', () => undefined),
  );
  await Promise.all(full.slice(0, 2).map((socket) => once(socket, 'connect')));
  const open = (): void => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  return {
    port: own,
    near: () => void setTimeout(open, 500),
    close: async () => {
      for (const socket of full) socket.destroy();
      open();
      await worker.terminate();
    },
  };
}
