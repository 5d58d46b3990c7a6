// Answers that are no page: results of on-chain operations by operation id, in both versions (docs/platform.md §2.5),
// credit tokens as a chain node answers them (§2.1, §2.2: no authentication, no paging, zero values left out).
import { dayMs } from '../day.ts';
import type { Day, Instant } from '../model.ts';
import type { Dialect } from './dialect.ts';
import { windowStart } from './list-query.ts';
import { nodeError, noSuchPath, notFound, ok, type SimulatedAnswer } from './simulated-answers.ts';
import {
  addressText,
  below,
  createDayCounts,
  dayNumber,
  hex8,
  hexText,
  mix,
  secondsOn,
  unit,
  writeTime,
  type DayNumber,
  type World,
} from './world.ts';

/** JSON texts of the `data` objects that a test wrote. */
export type LiteralTransaction = { v1beta1?: string; v3?: string };

/** Module, name in v1beta1, and whether the body names a token of the class. Numbers of v3 are places in this list. */
const operations = [
  ['nft', 'issue_class', false],
  ['nft', 'transfer_class', false],
  ['nft', 'mint_nft', true],
  ['nft', 'edit_nft', true],
  ['nft', 'transfer_nft', true],
  ['nft', 'burn_nft', true],
  ['nft', 'mint_nft_batch', true],
  ['mt', 'issue_class_mt', false],
  ['mt', 'issue_mt', true],
  ['mt', 'mint_mt', true],
  ['mt', 'transfer_mt', true],
  ['record', 'create_record', false],
] as const;

const modules = ['nft', 'mt', 'record'] as const;
const queuedMs = 5000;
const longestMs = 30_000;
const failure = 'failed to execute message: unauthorized';

export function createSimulatedTransactions(
  worldSeed: number,
  project: string,
  world: World,
  literals: Readonly<Record<string, LiteralTransaction>> | undefined,
) {
  const seed = mix(mix(worldSeed, 0x7a25), project.length * 31 + (project.codePointAt(0) ?? 0));
  const count = createDayCounts(seed, world.transactionsPerDay, world);

  function find(id: string): { askedAt: Instant; chance: number } | null {
    const parts = /^op-([0-9a-z]{1,6})-([0-9a-z]{1,6})-[0-9a-f]{8}$/.exec(id);
    if (parts === null) return null;
    const day = Number.parseInt(parts[1] ?? '', 36);
    const i = Number.parseInt(parts[2] ?? '', 36);
    const size = count(day);
    if (i >= size || idOf(day, i) !== id) return null;
    const second = secondsOn(seed, day, size, world)[i] ?? 0;
    return { askedAt: day * dayMs + second * 1000, chance: mix(mix(seed, day), i) };
  }

  const idOf = (day: DayNumber, i: number): string =>
    `op-${day.toString(36)}-${i.toString(36)}-${hex8(mix(mix(seed, day), ~i))}`;

  return {
    answer: (
      version: 'v1beta1' | 'v3',
      operationId: string,
      now: Instant,
      dialect: Dialect,
    ): SimulatedAnswer => {
      if (literals !== undefined) {
        const text = Object.hasOwn(literals, operationId)
          ? literals[operationId]?.[version]
          : undefined;
        return text === undefined ? notFound('operation not found') : ok(`{"data":${text}}`);
      }
      const found = find(operationId);
      if (found === null || found.askedAt > now || found.askedAt < windowStart(now, dialect)) {
        return notFound('operation not found');
      }
      return ok(`{"data":${dataText(version, found.chance, found.askedAt, now, dialect)}}`);
    },
    /** The ids a caller would have chosen on that UTC day, oldest first. */
    idsOn: (day: Day): string[] => {
      if (literals !== undefined) return Object.keys(literals);
      const number = dayNumber(day);
      return Array.from({ length: count(number) }, (_, i) => idOf(number, i));
    },
  };
}

/** Unprocessed, then processing, then done for good. */
function statusAt(chance: number, ageMs: number): 0 | 1 | 2 | 3 {
  if (ageMs < queuedMs) return 3;
  if (ageMs < queuedMs + unit(mix(chance, 1)) * (longestMs - queuedMs)) return 0;
  return unit(mix(chance, 2)) < 0.05 ? 2 : 1;
}

function dataText(
  version: 'v1beta1' | 'v3',
  chance: number,
  askedAt: Instant,
  now: Instant,
  dialect: Dialect,
): string {
  const number = below(mix(chance, 3), operations.length);
  const [module, type, namesToken] = operations[number] ?? operations[0];
  const status = statusAt(chance, now - askedAt);
  const isDone = status === 1 || status === 2;
  // A block every five seconds since the world began.
  const height = isDone ? Math.floor(askedAt / 5000) - 300_000_000 : 0;
  const heightText = version === 'v3' ? `"${height}"` : height;
  const time = isDone ? writeTime(askedAt + longestMs, dialect.timeForm) : '';
  return (
    (version === 'v1beta1'
      ? `{"module":"${module}","type":"${type}"`
      : `{"module":${modules.indexOf(module) + 1},"operation":${number + 1}`) +
    `,"tx_hash":"${isDone ? hexText(mix(chance, 4), 8).toUpperCase() : ''}","status":${status}` +
    `,"message":"${status === 2 ? failure : ''}","block_height":${heightText},"timestamp":"${time}"` +
    `${bodyText(module, version, chance, namesToken)}}`
  );
}

function bodyText(
  name: 'nft' | 'mt' | 'record',
  version: 'v1beta1' | 'v3',
  chance: number,
  namesToken: boolean,
): string {
  const id = hexText(mix(chance, 5), 5);
  if (name === 'record') {
    return `,"record":{"record_id":"${id}","certificate_url":"https://example.invalid/certificate/${id}"}`;
  }
  const classId = `"class_id":"${hexText(mix(chance, 6), 4)}"`;
  const idField = name === 'mt' ? 'mt_id' : version === 'v3' ? 'id' : 'nft_id';
  // Unset values come as "" in v1beta1; v3 native leaves them out.
  if (!namesToken)
    return `,"${name}":{${classId}${version === 'v1beta1' ? `,"${idField}":""` : ''}}`;
  return `,"${name}":{${classId},"${idField}":"${id}"}`;
}

/** A token that a test wrote: the JSON texts of its `value` and of its fee's `result`. */
export type LiteralToken = { symbol: string; owner: string; value: string; fee?: string };

const tokensPath = '/token/tokens';

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
    if (path === tokensPath) {
      const listed = tokens.filter((token) => owner === undefined || token.owner === owner);
      return envelope(now, listed.length === 0 ? 'null' : `[${listed.map(typed).join(',')}]`);
    }
    const [symbol, rest, ...more] = path.slice(tokensPath.length + 1).split('/');
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
