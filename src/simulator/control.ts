// The simulator's own door, for whoever runs it as a child process: what was asked, and what is shown, over HTTP. Open
// on loopback only; no platform has it.
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ListedResource } from '../model.ts';
import type { Simulator } from './options.ts';

/** `path` is what follows `/_simulator`. */
export async function answerControl(
  simulator: Simulator,
  response: ServerResponse,
  path: string,
  query: ReadonlyMap<string, string>,
): Promise<void> {
  const resource = query.get('resource');
  if (path === '/requests') {
    const { total, byPath } = simulator.requests;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ total, byPath, recent: simulator.requests.recent() }));
  } else if (path === '/records' && (resource === 'orders' || resource === 'nft_classes')) {
    response.setHeader('content-type', 'application/x-ndjson');
    // Whoever hangs up has read enough.
    await pipeline(Readable.from(linesOf(simulator, resource)), response).catch(() => undefined);
  } else {
    response
      .writeHead(404)
      .end(
        'there are /_simulator/requests and /_simulator/records?resource=orders or nft_classes\n',
      );
  }
}

/** One record a line, as shown now. A record whose text holds line breaks of its own spreads over several. */
function* linesOf(simulator: Simulator, resource: ListedResource): Generator<string> {
  for (const { text } of simulator.oracle.shown(resource)) yield `${text}\n`;
}
