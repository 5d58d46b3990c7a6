// A pooler in transaction mode, as PgBouncer is one: few connections to the server, lent to a client for as long as its
// transaction lasts. It speaks just enough of the protocol for that, and sets nothing back in between.
import { createServer, type AddressInfo, type Socket } from 'node:net';
import pg from 'pg';

export type Pooler = {
  connectionString: string;
  /** How often a connection was lent to another client than the one before. */
  handovers(): number;
  close(): Promise<void>;
};

type Server = { socket: Socket; lent: Client | null; before: Client | null };
type Client = {
  socket: Socket;
  server: Server | null;
  /** Messages that came while all connections were lent. */
  waiting: Buffer[];
  /** Answers owed: of every Query and every Sync. */
  owed: number;
};

/** `size`: connections to the server. */
export async function createPooler(connectionString: string, size: number): Promise<Pooler> {
  const servers = await Promise.all(Array.from({ length: size }, () => connect(connectionString)));
  const queue: Client[] = [];
  const clients = new Set<Client>();
  let handovers = 0;

  const release = (server: Server): void => {
    if (server.lent !== null) server.lent.server = null;
    server.lent = null;
    lend();
  };
  const lend = (): void => {
    for (const server of servers) {
      if (server.lent !== null) continue;
      const client = queue.shift();
      if (client === undefined) return;
      if (server.before !== null && server.before !== client) handovers += 1;
      server.lent = server.before = client;
      client.server = server;
      for (const message of client.waiting.splice(0)) send(client, server, message);
    }
  };
  const send = (client: Client, server: Server, message: Buffer): void => {
    if (message[0] === 0x51 || message[0] === 0x53) client.owed += 1;
    server.socket.write(message);
  };
  const follow = (server: Server): void => {
    const split = createSplitter();
    server.socket.on('data', (piece: Buffer) => {
      for (const message of split(piece)) {
        const client = server.lent;
        client?.socket.write(message);
        // ReadyForQuery
        if (message[0] !== 0x5a || client === null) continue;
        client.owed -= 1;
        if (client.owed === 0 && message[5] === 0x49) release(server);
      }
    });
    server.socket.on('error', () => undefined);
  };
  for (const server of servers) follow(server);

  /** As PgBouncer does: what is in the middle of something is not handed on. */
  const replace = async (server: Server): Promise<void> => {
    server.socket.destroy();
    const fresh = await connect(connectionString);
    server.socket = fresh.socket;
    server.before = null;
    follow(server);
    release(server);
  };

  const door = createServer((socket) => {
    const client: Client = { socket, server: null, waiting: [], owed: 0 };
    clients.add(client);
    socket.setNoDelay(true);
    let split: ReturnType<typeof createSplitter> | null = null;
    socket.on('data', (piece: Buffer) => {
      if (split === null) {
        // The length, the version, the parameters. No TLS, no password: this is a test.
        const asksForTls = piece.readInt32BE(4) === 80877103;
        if (!asksForTls) split = createSplitter();
        socket.write(asksForTls ? 'N' : welcome);
        return;
      }
      for (const message of split(piece)) {
        if (message[0] === 0x58) continue;
        if (client.server !== null) send(client, client.server, message);
        else {
          client.waiting.push(message);
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
      if (client.server !== null) replace(client.server).catch(() => undefined);
    });
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  const through = new URL(connectionString);
  through.hostname = '127.0.0.1';
  through.port = String((door.address() as AddressInfo).port);
  return {
    connectionString: through.href,
    handovers: () => handovers,
    close: async () => {
      for (const { socket } of clients) socket.destroy();
      await new Promise((resolve) => door.close(resolve));
      for (const { socket } of servers) socket.destroy();
    },
  };
}

/** pg logs in; its socket is then ours. */
async function connect(connectionString: string): Promise<Server> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const { connection } = client as unknown as { connection: pg.Connection };
  const socket = connection.stream as Socket;
  connection.removeAllListeners();
  for (const event of ['data', 'end', 'close', 'error']) socket.removeAllListeners(event);
  return { socket, lent: null, before: null };
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
