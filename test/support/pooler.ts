// A pooler in transaction mode, as PgBouncer is one: a single connection to the server, lent to a client for as long as
// its transaction lasts. It speaks just enough of the protocol for that, and sets nothing back in between.
import { createServer, type Socket } from 'node:net';
import pg from 'pg';
import { listenHere } from './loopback.ts';

type Client = {
  socket: Socket;
  /** Messages that came while the connection was lent to another. */
  waiting: Buffer[];
  /** Answers owed: of every Query and every Sync. */
  owed: number;
};

export async function createPooler(address: string) {
  const queue: Client[] = [];
  let handovers = 0;
  let before: Client | null = null;
  let lent: Client | null = null;
  let server = await connect(address);

  const send = (client: Client, piece: Buffer): void => {
    if (piece[0] === 0x51 || piece[0] === 0x53) client.owed += 1;
    server.write(piece);
  };
  const lend = (): void => {
    if (lent !== null) return;
    const client = queue.shift();
    if (client === undefined) return;
    if (before !== null && before !== client) handovers += 1;
    lent = before = client;
    for (const piece of client.waiting.splice(0)) send(client, piece);
  };
  const follow = (): void => {
    const split = createSplitter();
    server.on('error', () => undefined);
    server.on('data', (piece: Buffer) => {
      for (const part of split(piece)) {
        lent?.socket.write(part);
        if (part[0] !== 0x5a || lent === null) continue;
        lent.owed -= 1;
        if (lent.owed > 0 || part[5] !== 0x49) continue;
        lent = null;
        lend();
      }
    });
  };
  follow();
  const reconnect = async (): Promise<void> => {
    server = await connect(address);
    lent = null;
    follow();
    lend();
  };

  const door = createServer((socket) => {
    const client: Client = { socket, waiting: [], owed: 0 };
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
      for (const part of split(piece)) {
        if (part[0] === 0x58) continue;
        if (lent === client) send(client, part);
        else {
          client.waiting.push(part);
          if (!queue.includes(client)) queue.push(client);
        }
      }
      lend();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      const place = queue.indexOf(client);
      if (place >= 0) queue.splice(place, 1);
      if (lent !== client || !door.listening) return;
      // As PgBouncer does: what is in the middle of something is not handed on.
      server.destroy();
      void reconnect();
    });
  });
  const { port, close } = await listenHere(door);
  const through = new URL(address);
  through.hostname = '127.0.0.1';
  through.port = String(port);
  return {
    connectionString: through.href,
    /** How often the connection was lent to another client than the one before. */
    handovers: () => handovers,
    close: async (): Promise<void> => {
      await close();
      server.destroy();
    },
  };
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
