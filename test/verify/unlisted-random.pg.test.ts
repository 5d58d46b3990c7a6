// Results and tokens of any shape at all, through the real commit: what is held verifies, no rebuild changes it, and a
// column that is set to something else is named.
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../src/log.ts';
import type { ParsedRecord } from '../../src/model.ts';
import { parseJson } from '../../src/platform/json.ts';
import { readToken } from '../../src/platform/tokens.ts';
import { readTransaction } from '../../src/platform/transactions.ts';
import { openDb, withTx, type Db } from '../../src/store/db.ts';
import { writeInto } from '../../src/store/records.ts';
import { withSnapshot } from '../../src/store/snapshot.ts';
import { derivedColumns, shapeOf, type Archived } from '../../src/store/tables.ts';
import { rebuild } from '../../src/sync/rebuild.ts';
import { checkRecords } from '../../src/verify/check-records.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let db: Db;
/** As a superuser, who can do what the service itself cannot. */
let owner: Db;
beforeAll(async () => {
  database = await createTestDatabase();
  const { connectionString } = database;
  db = await openDb({ connectionString, log: silentLog() });
  owner = await openDb({ connectionString, role: null, log: silentLog() });
});
afterAll(async () => {
  await owner.close();
  await db.close();
  await database.drop();
});

const at = Date.parse('2026-04-06T12:00:00Z');
let projects = 0;

const written = async (of: Archived, records: ParsedRecord[]): Promise<void> => {
  const to = { projectId: of.projectId, expectsNew: null };
  const observed = records.map((record) => ({ record, observedAt: at }));
  await withTx(db, (tx) => writeInto(tx, shapeOf(of), to, observed, at));
};

async function findings(of: Archived): Promise<string[]> {
  const found: string[] = [];
  await withSnapshot(db, (tx) =>
    checkRecords(
      tx,
      of,
      null,
      ({ kind, id, says }) => void found.push(`${kind} ${id}: ${says}`),
      () => undefined,
    ),
  );
  return found;
}

const changed = async (of: Archived): Promise<number> => {
  const { signal } = new AbortController();
  return (await rebuild(db, of, { signal, afresh: true, onProgress: () => undefined })).rowsChanged;
};

const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const scalar = fc.oneof(
  fc.integer().map(String),
  fc.bigInt().map(String),
  fc.constantFrom('1.50', '-0.0', '2e0', '1e400', '1e131072', '9223372036854775808', '-1'),
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => JSON.stringify(text)),
  fc.integer().map((n) => `"${n}"`),
  fc.constantFrom('"+7.50"', '"1e5"', '" 12 "', '""', '"\\u0000"', '"\\ud800A"', '"\\u007f"'),
  fc.constantFrom(
    '"2026-03-01 23:30:00 -0800 PST"',
    '"2026-03-01T10:00:00.1234567Z"',
    '1772704800',
  ),
  fc.constantFrom('true', 'false', 'null', '"true"', '[]', '{}'),
  // What nests as deep as is taken apart, and deeper.
  fc.constantFrom(deep(252), deep(254), deep(255), deep(300)),
);
const body = fc
  .array(fc.tuple(fc.constantFrom('id', 'class_id', '\\u0000', 'a', ''), scalar), { maxLength: 4 })
  .map((fields) => `{${fields.map(([name, value]) => `"${name}":${value}`).join(',')}}`);
const objectOf = (keys: readonly string[], values: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .array(fc.tuple(fc.constantFrom(...keys), values), { maxLength: 12 })
    .map((fields) => `{${fields.map(([name, value]) => `"${name}":${value}`).join(' , ')}}`);

const names = (text: string): string[] => text.split(' ');
const result = objectOf(
  names(
    'module type operation tx_hash status message block_height timestamp nft mt record unknown',
  ),
  fc.oneof(scalar, body),
);
const tokenValue = objectOf(
  names('name min_unit scale initial_supply max_supply mintable owner unknown'),
  scalar,
);
const fees = objectOf(
  names('issue_fee mint_fee exist'),
  fc.oneof(scalar, objectOf(names('denom amount'), scalar)),
);

/** Another value than any of the above, by the column's type. */
const other: Record<string, string> = {
  integer: '77',
  bigint: '77000000',
  numeric: '77.077',
  text: `'altered'`,
  timestamptz: `'1999-01-01T00:00:00Z'`,
  jsonb: `'{"altered": true}'`,
};

/** Checks a set of records as written, after a rebuild, and with each column altered in turn. */
async function holds(of: Archived, records: ParsedRecord[], turn: number): Promise<void> {
  await written(of, records);
  expect(await findings(of)).toEqual([]);
  expect(await changed(of)).toBe(0);
  const shape = shapeOf(of);
  const columns = derivedColumns(shape);
  const [name, type] = columns[turn % columns.length] ?? ['', ''];
  await owner.query(
    `update ${shape.table} set ${name} = ${type === 'boolean' ? `not coalesce(${name}, false)` : other[type]}
      where project_id = $1`,
    [of.projectId],
  );
  const found = await findings(of);
  expect(found).toHaveLength(records.length);
  for (const one of found) expect(one).toMatch(new RegExp(`^column .*: ${name} is `));
  expect(await changed(of)).toBe(records.length);
  expect(await findings(of)).toEqual([]);
}

const many = { minLength: 1, maxLength: 12 };

test('results verify, whatever they say', async () => {
  let turn = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(result, many),
      fc.constantFrom('v1beta1', 'v3'),
      (texts, apiVersion) => {
        const of = { projectId: `r${projects++}`, resource: 'transactions' as const, apiVersion };
        const records = texts.map((text, i) => readTransaction(parseJson(text), text, `op_${i}`));
        return holds(of, records, turn++);
      },
    ),
    { numRuns: 20 },
  );
});

test('tokens verify, whatever they say', async () => {
  let turn = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(tokenValue, fc.option(fees)), many), (tokens) => {
      const of = { projectId: `t${projects++}`, resource: 'tokens' as const };
      const records = tokens.map(([value, fee], i) => {
        const symbol = `"symbol":"s${i}"`;
        const text = `{"type":"t","value":${value === '{}' ? `{${symbol}}` : value.replace(/\}$/, `,${symbol}}`)}}`;
        return readToken(`s${i}`, text, fee, '7');
      });
      return holds(of, records, turn++);
    }),
    { numRuns: 15 },
  );
});
