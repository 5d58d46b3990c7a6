// The way from one process to the database: a TCP proxy that can be cut, held, and set to cut or kill when a given
// statement passes by. It reads no answers and changes nothing.
import { connect, createServer, type Socket } from 'node:net';
import { listenHere } from '../support/loopback.ts';

/** Set for the moment a statement is sent. */
type Trap = {
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

export type Wire = Awaited<ReturnType<typeof createWireTo>>['wire'];

type Pair = { client: Socket; server: Socket; isLeftAlone: boolean };

/** A wire to the server of a connection string, and the connection string that leads through it. */
export async function createWireTo(connectionString: string) {
  const address = new URL(connectionString);
  const target = { host: address.hostname, port: Number(address.port) };
  const pairs = new Set<Pair>();
  let trap: Trap | null = null;
  let isHeld = false;

  const endClient = ({ client }: Pair, how: Trap['how']): void => {
    if (how === 'reset') client.resetAndDestroy();
    else client.destroy();
  };
  const cutPair = (pair: Pair, how: Trap['how']): void => {
    pairs.delete(pair);
    endClient(pair, how);
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
    if (how === 'pass' || when === 'before') {
      spring();
      if (how === 'pass') return false;
      cutPair(pair, how);
      return true;
    }
    // The server is left alone with the statement for a while, as behind a network that is gone.
    pair.isLeftAlone = true;
    pair.server.write(piece, () => {
      spring();
      endClient(pair, how);
      setTimeout(() => cutPair(pair, 'end'), 200).unref();
    });
    return true;
  };

  const door = createServer((client) => {
    const server = connect(target);
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
      if (!pair.isLeftAlone) cutPair(pair, 'end');
    };
    for (const socket of [client, server]) {
      socket.on('error', end).on('close', end);
      if (isHeld) socket.pause();
    }
  });
  const { port, close } = await listenHere(door);

  const sockets = (): Socket[] => [...pairs].flatMap(({ client, server }) => [client, server]);
  address.hostname = '127.0.0.1';
  address.port = String(port);
  const wire = {
    /** Cuts the connections that `isChosen`; all unless given. Returns how many. */
    cut: (how: 'reset' | 'end', isChosen: () => boolean = () => true): number => {
      const chosen = [...pairs].filter(isChosen);
      for (const pair of chosen) cutPair(pair, how);
      return chosen.length;
    },
    /** Nothing passes until the function it returns is called. */
    hold: (): (() => void) => {
      isHeld = true;
      for (const socket of sockets()) socket.pause();
      return () => {
        isHeld = false;
        for (const socket of sockets()) socket.resume();
      };
    },
    arm: (next: Trap): void => void (trap = next),
    /** A trap is set and has not sprung. */
    isArmed: (): boolean => trap !== null,
    close: (): Promise<void> => {
      for (const pair of pairs) cutPair(pair, 'end');
      return close();
    },
  };
  return { wire, address: address.href };
}
