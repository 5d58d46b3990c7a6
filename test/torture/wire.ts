// The way from one Outlast process to the database: a TCP proxy that can be cut, held, and set to cut or kill when a
// given statement passes by. It reads no answers and changes nothing.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Set for the moment a statement is sent. */
export type Trap = {
  /** Text of the statement, as it stands in the protocol. */
  text: string;
  /** So many of them pass first. */
  skip: number;
  /** `before`: the statement never arrives. `after`: it does, and its answer does not. */
  when: 'before' | 'after';
  /** Done at that moment. */
  spring: () => void;
  /**
   * Cut with a reset, or as if the other side had closed it in order: errors that look different to a client. `pass`:
   * not cut, and everything arrives.
   */
  how: 'reset' | 'end' | 'pass';
};

export type Wire = {
  port: number;
  /** Cuts every connection, or the share of them given. Returns how many. */
  cut(share?: number): number;
  /** Nothing passes until the function it returns is called. */
  hold(): () => void;
  arm(trap: Trap): void;
  /** A trap is set and has not sprung. */
  isArmed(): boolean;
  close(): Promise<void>;
};

type Pair = { client: Socket; server: Socket; isLeftAlone: boolean };

export type Target = { host: string; port: number };

/** `target` is asked for every connection: the server may come back on another port. */
export async function createWire(target: () => Target, unit: () => number): Promise<Wire> {
  const pairs = new Set<Pair>();
  let trap: Trap | null = null;
  let isHeld = false;

  const cutPair = (pair: Pair, how: 'reset' | 'end'): void => {
    pairs.delete(pair);
    if (how === 'reset') pair.client.resetAndDestroy();
    else pair.client.destroy();
    pair.server.destroy();
  };

  /** True when the trap has sprung: the piece was dealt with. */
  const springs = (piece: Buffer, pair: Pair): boolean => {
    if (trap === null || !piece.includes(trap.text)) return false;
    if (trap.skip > 0) {
      trap.skip--;
      return false;
    }
    const { when, spring, how } = trap;
    trap = null;
    if (how === 'pass') {
      spring();
      return false;
    }
    if (when === 'before') {
      spring();
      cutPair(pair, how);
      return true;
    }
    // The server is left alone with the statement for a while, as behind a network that is gone.
    pair.isLeftAlone = true;
    pair.server.write(piece, () => {
      spring();
      if (how === 'reset') pair.client.resetAndDestroy();
      else pair.client.destroy();
      setTimeout(() => cutPair(pair, 'end'), 200).unref();
    });
    return true;
  };

  const door = createServer((client) => {
    const server = connect(target());
    const pair: Pair = { client, server, isLeftAlone: false };
    pairs.add(pair);
    // At once, as Postgres' own sockets do.
    client.setNoDelay(true);
    server.setNoDelay(true);
    client.on('data', (piece) => {
      if (!springs(piece, pair)) server.write(piece);
    });
    server.on('data', (piece) => void client.write(piece));
    const end = (): void => {
      if (pair.isLeftAlone) return;
      pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on('error', end).on('close', end);
    if (isHeld) {
      client.pause();
      server.pause();
    }
  });
  await new Promise<void>((resolve, reject) => {
    door.once('error', reject);
    door.listen(0, '127.0.0.1', () => resolve());
  });

  const each = (act: (socket: Socket) => void): void => {
    for (const { client, server } of pairs) {
      act(client);
      act(server);
    }
  };
  return {
    port: (door.address() as AddressInfo).port,
    cut: (share = 1) => {
      const chosen = [...pairs].filter(() => unit() < share);
      const how = unit() < 0.5 ? 'reset' : 'end';
      for (const pair of chosen) cutPair(pair, how);
      return chosen.length;
    },
    hold: () => {
      isHeld = true;
      each((socket) => socket.pause());
      return () => {
        isHeld = false;
        each((socket) => socket.resume());
      };
    },
    arm: (next) => {
      trap = next;
    },
    isArmed: () => trap !== null,
    close: () =>
      new Promise((resolve) => {
        door.close(() => resolve());
        for (const pair of pairs) cutPair(pair, 'end');
      }),
  };
}

/** A wire to the server of a connection string, and the connection string that leads through it. */
export async function createWireTo(
  connectionString: string,
): Promise<{ wire: Wire; address: string }> {
  const { hostname, port } = new URL(connectionString);
  const wire = await createWire(
    () => ({ host: hostname, port: Number(port) }),
    () => 0,
  );
  const through = new URL(connectionString);
  through.hostname = '127.0.0.1';
  through.port = String(wire.port);
  return { wire, address: through.href };
}
