// A pooler in transaction mode, as PgBouncer is one: few connections to the server, lent to a client for as long as its
// transaction lasts. It speaks just enough of the protocol for that, and sets nothing back in between. It outlives the
// server: a connection that is lost takes its client with it, and is made anew when one is wanted.
import { createServer, type AddressInfo, type Socket } from 'node:net';
import pg from 'pg';

export type Pooler = {
  connectionString: string;
  port: number;
  /** How often a connection was lent to another client than the one before. */
  handovers(): number;
  close(): Promise<void>;
};

type Server = {
  /** Null while there is no connection. */
  socket: Socket | null;
  isConnecting: boolean;
  lent: Client | null;
  before: Client | null;
  /** What was set last, as a statement. */
  set: string;
  /** ReadyForQuery that no client is to see. */
  unseen: number;
};
type Client = {
  socket: Socket;
  server: Server | null;
  /** Messages that came while all connections were lent. */
  waiting: Buffer[];
  /** Answers owed: of every Query and every Sync. */
  owed: number;
  /** What it asked for at its start by `options`, as a statement: that goes with it, as some poolers can be told. */
  set: string;
};

/** `size`: connections to the server. The address is asked for whenever one is made. */
export async function createPooler(
  given: string | (() => Promise<string>),
  size: number,
): Promise<Pooler> {
  const address = async (): Promise<string> => (typeof given === 'string' ? given : given());
  const queue: Client[] = [];
  const clients = new Set<Client>();
  let handovers = 0;
  let isClosed = false;

  const release = (server: Server): void => {
    if (server.lent !== null) server.lent.server = null;
    server.lent = null;
    lend();
  };
  const lend = (): void => {
    for (const server of servers) {
      if (queue.length === 0) return;
      if (server.lent !== null) continue;
      if (server.socket === null) {
        void reconnect(server);
        continue;
      }
      const client = queue.shift();
      if (client === undefined) return;
      if (server.before !== null && server.before !== client) handovers += 1;
      server.lent = server.before = client;
      client.server = server;
      if (client.set !== server.set && client.set !== '') {
        server.set = client.set;
        server.unseen += 1;
        server.socket.write(message('Q', Buffer.from(`${client.set}\0`)));
      }
      for (const piece of client.waiting.splice(0)) send(client, server, piece);
    }
  };
  const send = (client: Client, server: Server, piece: Buffer): void => {
    if (piece[0] === 0x51 || piece[0] === 0x53) client.owed += 1;
    server.socket?.write(piece);
  };
  const follow = (server: Server, socket: Socket): void => {
    const split = createSplitter();
    server.socket = socket;
    server.before = null;
    server.set = '';
    server.unseen = 0;
    socket.on('data', (piece: Buffer) => {
      for (const part of split(piece)) {
        const client = server.lent;
        const isReady = part[0] === 0x5a;
        if (server.unseen > 0) {
          if (isReady) server.unseen -= 1;
          continue;
        }
        client?.socket.write(part);
        if (!isReady || client === null) continue;
        client.owed -= 1;
        if (client.owed === 0 && part[5] === 0x49) release(server);
      }
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (server.socket !== socket) return;
      server.socket = null;
      server.lent?.socket.destroy();
      release(server);
    });
  };
  const reconnect = async (server: Server): Promise<void> => {
    if (server.isConnecting || isClosed) return;
    server.isConnecting = true;
    const socket = await address()
      .then(connect)
      .catch(() => null);
    server.isConnecting = false;
    if (isClosed) socket?.destroy();
    else if (socket !== null) follow(server, socket);
    // Nobody is left waiting for a server that is not there.
    else if (servers.every((one) => one.socket === null)) {
      for (const client of queue.splice(0)) client.socket.destroy();
    }
    lend();
  };

  const servers: Server[] = [];
  for (const socket of await Promise.all(
    Array.from({ length: size }, async () => connect(await address())),
  )) {
    const server: Server = {
      socket,
      isConnecting: false,
      lent: null,
      before: null,
      set: '',
      unseen: 0,
    };
    servers.push(server);
    follow(server, socket);
  }

  const door = createServer((socket) => {
    const client: Client = { socket, server: null, waiting: [], owed: 0, set: '' };
    clients.add(client);
    socket.setNoDelay(true);
    let split: ReturnType<typeof createSplitter> | null = null;
    socket.on('data', (piece: Buffer) => {
      if (split === null) {
        // The length, the version, the parameters. No TLS, no password: this is a test.
        const asksForTls = piece.readInt32BE(4) === 80877103;
        if (!asksForTls) {
          client.set = settingIn(piece);
          split = createSplitter();
        }
        socket.write(asksForTls ? 'N' : welcome);
        return;
      }
      for (const part of split(piece)) {
        if (part[0] === 0x58) continue;
        if (client.server !== null) send(client, client.server, part);
        else {
          client.waiting.push(part);
          if (!queue.includes(client)) queue.push(client);
        }
      }
      lend();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clients.delete(client);
      const place = queue.indexOf(client);
      if (place >= 0) queue.splice(place, 1);
      // As PgBouncer does: what is in the middle of something is not handed on.
      client.server?.socket?.destroy();
    });
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  const { port } = door.address() as AddressInfo;
  const through = new URL(await address());
  through.hostname = '127.0.0.1';
  through.port = String(port);
  return {
    connectionString: through.href,
    port,
    handovers: () => handovers,
    close: async () => {
      isClosed = true;
      for (const { socket } of clients) socket.destroy();
      await new Promise((resolve) => door.close(resolve));
      for (const { socket } of servers) socket?.destroy();
    },
  };
}

/** The setting of a start's `options`, if there is one. */
function settingIn(start: Buffer): string {
  const parameters = start.subarray(8).toString('utf8').split('\0');
  const options = parameters[parameters.indexOf('options') + 1] ?? '';
  const [, name, value] = /^-c ([a-z.]+)=(\w+)$/.exec(options) ?? [];
  return name === undefined ? '' : `set ${name} = '${value}'`;
}

/** pg logs in; its socket is then ours. */
async function connect(connectionString: string): Promise<Socket> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  const { connection } = client as unknown as { connection: pg.Connection };
  const socket = connection.stream as Socket;
  connection.removeAllListeners();
  for (const event of ['data', 'end', 'close', 'error']) socket.removeAllListeners(event);
  return socket;
}

/** Whole messages out of pieces: a letter, the length of the rest, the rest. */
function createSplitter(): (piece: Buffer) => Buffer[] {
  let left = Buffer.alloc(0);
  return (piece) => {
    left = Buffer.concat([left, piece]);
    const whole: Buffer[] = [];
    while (left.length >= 5 && left.length > left.readUInt32BE(1)) {
      const length = 1 + left.readUInt32BE(1);
      whole.push(left.subarray(0, length));
      left = left.subarray(length);
    }
    return whole;
  };
}

const message = (letter: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(letter);
  head.writeUInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
};
const welcome = Buffer.concat([
  message('R', Buffer.alloc(4)),
  message('S', Buffer.from('server_version\x0017\0')),
  message('K', Buffer.alloc(8)),
  message('Z', Buffer.from('I')),
]);
