// Credit tokens as a chain node answers them (docs/platform.md §2.1, §2.2): no authentication, no paging, zero
// values left out.
import type { Instant } from '../model.ts';
import type { Dialect } from './dialect.ts';
import { nodeError, noSuchPath, ok, type SimulatedAnswer } from './page.ts';
import { addressText, below, mix, type World } from './world.ts';

/** A token that a test wrote: the JSON texts of its `value` and of its fee's `result`. */
export type LiteralToken = { symbol: string; owner: string; value: string; fee?: string };

const prefix = '/token/tokens';

export function createSimulatedTokens(
  worldSeed: number,
  world: World,
  literals: readonly LiteralToken[] | undefined,
): (path: string, owner: string | undefined, now: Instant, dialect: Dialect) => SimulatedAnswer {
  const tokens = literals ?? Array.from({ length: world.tokens }, (_, i) => tokenOf(worldSeed, i));
  const envelope = (now: Instant, result: string): SimulatedAnswer =>
    ok(`{"height":"${Math.floor(now / 5000) - 300_000_000}","result":${result}}`);
  const typed = (token: LiteralToken): string =>
    `{"type":"chainmod/token/Token","value":${token.value}}`;

  return (path, owner, now, { feePath }) => {
    if (path === prefix) {
      const listed = tokens.filter((token) => owner === undefined || token.owner === owner);
      return envelope(now, listed.length === 0 ? 'null' : `[${listed.map(typed).join(',')}]`);
    }
    const [symbol, rest, ...more] = path.slice(prefix.length + 1).split('/');
    if (symbol === undefined || symbol === '' || more.length > 0) return noSuchPath;
    const token = tokens.find((one) => one.symbol === decoded(symbol));
    if (rest === feePath)
      return envelope(now, token?.fee ?? feeText(token !== undefined, symbol.length));
    if (rest !== undefined) return noSuchPath;
    return token === undefined
      ? nodeError(400, `token ${symbol} does not exist`)
      : envelope(now, typed(token));
  };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** `exist` is a zero value too: left out when false. Short symbols cost more. */
function feeText(exists: boolean, symbolLength: number): string {
  const fee = 10 * Math.max(1, 6000 >> symbolLength);
  return `{${exists ? '"exist":true,' : ''}"issue_fee":{"denom":"ugas","amount":"${fee}"},"mint_fee":{"denom":"ugas","amount":"${fee / 10}"}}`;
}

function tokenOf(worldSeed: number, i: number): LiteralToken {
  const chance = mix(mix(worldSeed, 0x70c3), i);
  const symbol = `credit${'abcdefghijklmnopqrstuvwxyz'[i % 26]}${i < 26 ? '' : Math.floor(i / 26)}`;
  const owner = addressText(mix(worldSeed, below(chance, 3)));
  const fields: string[] = [`"symbol":"${symbol}","name":"Credit ${i} 信用"`];
  const scale = below(mix(chance, 1), 3) * 6;
  if (scale > 0) fields.push(`"scale":${scale}`);
  fields.push(`"min_unit":"u${symbol}"`);
  if (below(mix(chance, 2), 4) > 0) fields.push(`"initial_supply":"${1000 * (1 + (chance & 63))}"`);
  fields.push(
    `"max_supply":"${i === 0 ? '18446744073709551615' : 1_000_000 * (1 + (chance & 7))}"`,
  );
  if ((chance & 256) > 0) fields.push('"mintable":true');
  fields.push(`"owner":"${owner}"`);
  return { symbol, owner, value: `{${fields.join(',')}}` };
}
