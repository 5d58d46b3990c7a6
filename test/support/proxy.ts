// A real HTTP proxy on loopback, as companies have them: it opens tunnels (CONNECT) for https, passes on what is asked for
// by a whole address, and knows hosts by names that nobody else knows.
import { createServer, request, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { listenHere } from './loopback.ts';

export type Proxy = {
  port: number;
  /** What was asked of it, as `CONNECT platform.example:443` and `GET http://hooks.example/in`. */
  asked: string[];
  close(): Promise<void>;
};

/** `hosts`: where `name:port` leads to on this machine. `login`: `user:password`, without which it refuses. */
export async function startProxy(hosts: Record<string, number>, login?: string): Promise<Proxy> {
  const asked: string[] = [];
  const wanted = login === undefined ? undefined : `Basic ${Buffer.from(login).toString('base64')}`;
  const mayPass = ({ headers, method, url }: IncomingMessage): boolean => {
    asked.push(`${method} ${url}`);
    return headers['proxy-authorization'] === wanted;
  };
  const server = createServer((from, to) => {
    if (!mayPass(from)) {
      to.writeHead(407).end();
      return;
    }
    const { host, pathname, search } = new URL(from.url ?? '');
    const port = hosts[host.includes(':') ? host : `${host}:80`];
    if (port === undefined) {
      to.writeHead(502).end();
      return;
    }
    const { method, headers } = from;
    const onward = request({ port, method, path: pathname + search, headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(to);
    });
    from.pipe(onward.on('error', () => to.destroy()));
  });
  server.on('connection', (socket: Socket) => socket.on('error', () => undefined));
  server.on('connect', (from: IncomingMessage, socket: Socket) => {
    const refuse = (status: string): void => void socket.end(`HTTP/1.1 ${status}\r\n\r\n`);
    if (!mayPass(from)) return refuse('407 Proxy Authentication Required');
    const port = hosts[from.url ?? ''];
    if (port === undefined) return refuse('403 Forbidden');
    const onward = connect(port, 'localhost', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.once('close', () => onward.destroy());
  });
  return { ...(await listenHere(server)), asked };
}
