// What a superuser may do behind the archive's back, digests, pages and certificates made to fit where he can. Each is
// named by what the journal says. Who uses it chooses what the names with a dollar stand for.
import type { Finding } from '../../src/verify/finding.ts';

/**
 * `$final` and `$sealed`: days of orders, of two months, with a proof by totals and more than one order. `$certified`:
 * an order of a certified month. `$order`: one of a month that is open. `$missing`: one that vanished. `$versioned`: a
 * class with versions. `$reject`: the digest of a reject, hex.
 */
export type Chosen = Record<
  'final' | 'sealed' | 'certified' | 'order' | 'missing' | 'versioned' | 'reject',
  string
>;

type Tampering = [
  what: string,
  sql: string,
  kind: Finding['kind'],
  says: RegExp,
  /** Of the record that the finding names. */
  id?: string,
];

/** The text with what was chosen put in. */
export const filled = (text: string, chosen: Chosen): string =>
  text.replaceAll(/\$([a-z]+)/g, (_, name: keyof Chosen) => chosen[name]);

/** The digest of a raw whose keys and values need nothing but sorting: what a careful forger would put beside it. */
export const forgedSha = (raw: string): string =>
  `(select sha256(convert_to('{' || string_agg(to_json(key) || ':' || value, ',' order by key collate "C") || '}', 'UTF8'))
      from jsonb_each(${raw}))`;

/** Adds a copy of a row, `t`, with other columns, each an expression; in whatever order the table has its columns. */
export const copied = (table: string, where: string, changes: Record<string, string>): string =>
  `insert into ${table}
   select (jsonb_populate_record(t, jsonb_build_object(${Object.entries(changes)
     .map(([column, value]) => `'${column}', ${value}`)
     .join(', ')}))).* from ${table} t ${where}`;

/** Puts a row among the earlier versions as well. */
const setAside = (name: string, where: string): string =>
  `insert into ${name}_versions select (jsonb_populate_record(null::${name}_versions, to_jsonb(t))).*
     from ${name === 'archive.order' ? 'archive.orders' : `${name}es`} t where ${where}`;

/** A copy of an order under an id that the platform never showed, as a careful forger writes it. */
export const inventedOrder = (where: string): string => {
  const raw = `(t.raw || '{"operation_id": "invented"}')`;
  const changes = {
    operation_id: `'invented'`,
    raw,
    raw_bytes: 'null',
    raw_sha256: forgedSha(raw),
  };
  return copied('archive.orders', where, { ...changes, missing_since: 'null' });
};

/** The journal made anew from its entries, without those of the condition. */
export const remadeJournal = (without = 'false'): string => `
  create temp table entries as select * from sync.journal where not (${without});
  truncate sync.journal, sync.chains;
  select sync.journal_append(project_id, resource, owner, day, kind, body, ids, shas)
    from (select * from entries order by entries.no) e;
  drop table entries;`;

const forgedRaw = `n.raw || '{"message": "forged"}'`;
const ofFinal = `project_id = 'p' and resource = 'orders' and day = '$final'`;
const ofSealed = `project_id = 'p' and resource = 'orders' and day = '$sealed'`;
const ofFirst = `no = (select min(no) from sync.journal where ${ofSealed})`;
const readingColumns = `project_id, resource, owner, day, from_end, days_asked, began_at, began_machine_at, began_earliest_at,
      ended_at, ended_machine_at, ended_latest_at, shown, by_status, lacks, claims, pending, digest`;
const ofReject = `sha256 = decode('$reject', 'hex')`;
const forgedVersion = `(t.raw || '{"name": "forged"}')`;
const earlier = `t.observed_at - interval '1 hour'`;
const versionOf = `archive.nft_class_versions where id = '$versioned'`;
// prettier-ignore
export const tamperings: readonly Tampering[] = [
  // The ledger, of certified months and of open ones.
  ['a final day called sealed', `update sync.slices set state = 'sealed' where ${ofFinal}`, 'ledger', /state was sealed, and final is in the journal/],
  ['a final day called lost', `update sync.slices set state = 'lost' where ${ofFinal}`, 'ledger', /state/],
  ['a sealed day called open', `update sync.slices set state = 'open' where ${ofSealed}`, 'ledger', /state/],
  ['the platform total of a sealed day', `update sync.slices set platform_total = platform_total + 1 where ${ofSealed}`, 'ledger', /platform_total/],
  ['the shown total of a sealed day', `update sync.slices set shown_total = 0 where ${ofSealed}`, 'ledger', /shown_total/],
  ['the proof of a sealed day', `update sync.slices set proof = 'none' where ${ofSealed}`, 'ledger', /proof was none/],
  ['when a sealed day was proved', `update sync.slices set proved_at = (proved_at at time zone 'UTC' - interval '1 day') at time zone 'UTC' where ${ofSealed}`, 'ledger', /proved_at/],
  ['when a final day was walked', `update sync.slices set walked_at = (walked_at at time zone 'UTC' + interval '1 day') at time zone 'UTC' where ${ofFinal}`, 'ledger', /walked_at/],
  ['pending orders of a final day', `update sync.slices set unresolved = 3 where ${ofFinal}`, 'ledger', /unresolved/],
  ['the deadline of a final day', `update sync.slices set deadline_at = '9999-12-31' where ${ofFinal}`, 'ledger', /deadline_at/],
  ['when a day last showed something new', `update sync.slices set news_no = news_no - 1 where ${ofSealed}`, 'ledger', /news_no/],
  ['which walk of a day was whole', `update sync.slices set whole_walk = 0 where ${ofSealed}`, 'ledger', /whole_walk/],
  ['a certified day gone', `delete from sync.slices where ${ofFinal}`, 'ledger', /gone from the ledger, which said state final/],
  ['an open day gone', `delete from sync.slices where ${ofSealed}`, 'ledger', /gone from the ledger/],
  ['all days of a month gone', `delete from sync.slices where resource = 'orders' and date_trunc('month', day) = date_trunc('month', date '$final')`, 'ledger', /gone from the ledger/],
  ['a day by hand', `insert into sync.slices (project_id, resource, day, deadline_at, state) values ('p', 'orders', '2020-02-01', '2020-03-31', 'final')`, 'ledger', /nothing in the journal entered it/],
  ['a day gone with its journal', `delete from sync.slices where ${ofSealed}; delete from sync.journal where ${ofSealed}`, 'ledger', /nothing in the ledger accounts for the day/],
  ['the same, and what the next entries say', `delete from sync.slices where ${ofSealed}; delete from sync.journal where ${ofSealed}`, 'journal', /does not follow from the entry before it/],
  ['a ledger row altered, and written again by the service', `update sync.slices set shown_total = 1 where ${ofSealed};
    select sync.journal_ledger(sync.ledger_of(s), project_id, resource, owner, day) from sync.slices s where ${ofSealed}`, 'ledger', /until entry \d+ was written: shown_total was 1/],
  ['a day gone, and entered again by the service', `delete from sync.slices where ${ofSealed};
    insert into sync.slices (project_id, resource, day, deadline_at) values ('p', 'orders', '$sealed', '2026-06-01');
    select sync.journal_ledger(null, 'p', 'orders', '', '$sealed')`, 'ledger', /until entry \d+ was written: the day was gone from the ledger/],
  // Pages.
  ['all pages gone', `delete from sync.pages`, 'ledger', /page 0 of walk \d+ was entered, and is no longer held/],
  ['the page of a final day gone', `delete from sync.pages where ${ofFinal}`, 'ledger', /page 0 of walk \d+ was entered, and is no longer held/],
  ['an id out of a page', `update sync.pages set ids = array_remove(ids, ids[1]) where ${ofSealed}`, 'ledger', /is not as it was entered/],
  ['an id into a page', `update sync.pages set ids = ids || '{$order}' where ${ofSealed}`, 'ledger', /is not as it was entered/],
  ['the total of a page', `update sync.pages set total = 1000 where ${ofSealed}`, 'ledger', /is not as it was entered/],
  ['the key of a page', `update sync.pages set page_key = 'x' where ${ofSealed}`, 'ledger', /is not as it was entered/],
  ['a page by hand', `insert into sync.pages select project_id, resource, owner, day, walk, 7777, page_key, page_offset, ids, rejects, total, asked_at from sync.pages where ${ofSealed} limit 1`, 'ledger', /page 7777 of walk \d+ is held, and nothing/],
  // Rejects.
  ['a reject gone', `delete from sync.rejects where ${ofReject}`, 'missing', /^reject [0-9a-f]{64} was kept/],
  ['a reject with another reason', `update sync.rejects set reason = 'other' where ${ofReject}`, 'altered', /^reject/],
  ['a reject at another moment', `update sync.rejects set seen_at = now() where ${ofReject}`, 'altered', /^reject/],
  ['a reject on another day', `update sync.rejects set day = day + 1 where ${ofReject}`, 'altered', /^reject/],
  ['a reject altered, as if it were the beginning of a long one', `update sync.rejects set bytes = 'x', whole_length = 9 where ${ofReject}`, 'altered', /^reject/],
  ['a reject altered with its digest', `update sync.rejects set bytes = 'x', sha256 = sha256('x') where ${ofReject}`, 'missing', /^reject/],
  ['a reject by hand', `insert into sync.rejects select project_id, resource, sha256('y'), 'y', reason, owner, day, seen_at from sync.rejects where ${ofReject}`, 'extra', /^reject/],
  // The evidence.
  ['a reading altered', `update sync.readings set lacks = lacks + 1 where ${ofSealed}`, 'ledger', /^reading \d+ is not as it was added/],
  ['when a reading began', `update sync.readings set began_at = (began_at at time zone 'UTC' - interval '1 minute') at time zone 'UTC' where ${ofFinal}`, 'ledger', /^reading \d+ is not as it was added/],
  ['a reading gone', `delete from sync.readings where ${ofSealed}`, 'ledger', /^reading \d+ is in the journal, and the table lacks it/],
  ['a reading by hand', `insert into sync.readings (${readingColumns}, no) select ${readingColumns}, no + 5000000000 from sync.readings where ${ofSealed} limit 1`, 'ledger', /^reading 5\d+ is held, and nothing in the journal added it/],
  ['a reading of another day', `update sync.readings set day = '2026-03-02' where ${ofSealed}`, 'ledger', /^reading \d+ is not as it was added/],
  ['books altered', `update sync.books set total = total + 1 where no = (select max(no) from sync.books where resource = 'orders')`, 'ledger', /^row \d+ of the books is not as it was added/],
  ['books gone', `delete from sync.books`, 'ledger', /^row \d+ of the books is in the journal, and the table lacks it/],
  ['books by hand', `insert into sync.books select project_id, resource, owner, no + 5000000000, day_from, day_to, asked_at, total, by_status, shown, shown_by_status, is_more, is_equal, asks, in_words
    from sync.books where resource = 'orders'`, 'ledger', /^row 5\d+ of the books is held, and nothing in the journal added it/],
  // Versions.
  ['a version gone', `delete from ${versionOf}`, 'missing', /was archived by entry \d+ of \d{4}-/, '$versioned'],
  ['all versions gone', `delete from archive.nft_class_versions`, 'missing', /and is no longer held/, '$versioned'],
  ['a version altered with its digest', `update archive.nft_class_versions v set raw = n.raw || '{"name": "forged"}', raw_sha256 = ${forgedSha(`(n.raw || '{"name": "forged"}')`)}
    from ${versionOf.replace('where', 'n where n.')} and n.id = v.id and n.observed_at = v.observed_at`, 'altered', /held is a content/, '$versioned'],
  ['a version forged', copied('archive.nft_class_versions', `where id = '$versioned'`, { name: `'forged'`, raw: forgedVersion, raw_bytes: 'null', raw_sha256: forgedSha(forgedVersion), observed_at: earlier }), 'extra', /nothing in the journal stored it/, '$versioned'],
  ['a version copied to another moment', copied('archive.nft_class_versions', `where id = '$versioned'`, { observed_at: earlier }), 'extra', /nothing in the journal stored it/, '$versioned'],
  ['a version re-timed', `update archive.nft_class_versions set observed_at = (observed_at at time zone 'UTC' - interval '1 minute') at time zone 'UTC' where id = '$versioned'`, 'altered', /held is a content observed at/, '$versioned'],
  ['a version and the row exchanged', `update archive.nft_classes c set observed_at = v.observed_at from ${versionOf.replace('where', 'v where v.')} and v.id = c.id`, 'altered', /held is/, '$versioned'],
  ['a version and the row exchanged, contents and all', `${setAside('archive.nft_class', `id = '$versioned'`)};
    update archive.nft_classes c set name = v.name, symbol = v.symbol, nft_count = v.nft_count, uri = v.uri, owner = v.owner, tx_hash = v.tx_hash,
           created_at = v.created_at, observed_at = v.observed_at, unread = v.unread, raw_sha256 = v.raw_sha256, raw_bytes = v.raw_bytes, raw = v.raw
      from ${versionOf.replace('where', 'v where v.')} and c.id = v.id and v.observed_at = (select min(observed_at) from ${versionOf});
    delete from ${versionOf.replace('where', 'v using archive.nft_classes c where v.')} and c.id = v.id and c.observed_at = v.observed_at`, 'altered', /is in force by entry \d+ of .*, and is held as an earlier version$/, '$versioned'],
  ['an order set aside among the versions', `${setAside('archive.order', `operation_id = '$order'`)};
    delete from archive.orders where operation_id = '$order'`, 'altered', /is in force by entry \d+ of .*, and is held as an earlier version$/, '$order'],
  // Moments.
  ['observed_at moved', `update archive.orders set observed_at = (observed_at at time zone 'UTC' - interval '1 hour') at time zone 'UTC' where operation_id = '$order'`, 'altered', /held is a content observed at/, '$order'],
  ['observed_at moved behind the certificate', `update archive.orders set observed_at = '2099-06-01' where operation_id = '$certified'; truncate sync.certificates`, 'altered', /held is a content observed at 2099-06-01/, '$certified'],
  ['first_seen_at moved', `update archive.orders set first_seen_at = (first_seen_at at time zone 'UTC' + interval '1 day') at time zone 'UTC' where operation_id = '$order'`, 'altered', /^first_seen_at is/, '$order'],
  ['first_seen_at moved, certified', `update archive.orders set first_seen_at = (first_seen_at at time zone 'UTC' - interval '1 second') at time zone 'UTC' where operation_id = '$certified'`, 'altered', /^first_seen_at is/, '$certified'],
  ['slice_day moved', `update archive.orders set slice_day = slice_day - 1 where operation_id = '$order'`, 'altered', /^slice_day is/, '$order'],
  ['slice_day moved, certified', `update archive.orders set slice_day = slice_day - 1 where operation_id = '$certified'`, 'altered', /^slice_day is/, '$certified'],
  ['missing_since moved', `update archive.orders set missing_since = (missing_since at time zone 'UTC' + interval '1 day') at time zone 'UTC' where operation_id = '$missing'`, 'altered', /^missing_since is/, '$missing'],
  ['missing_since taken back', `update archive.orders set missing_since = null where operation_id = '$missing'`, 'altered', /^missing_since is not set/, '$missing'],
  ['missing_since made up', `update archive.orders set missing_since = now() where operation_id = '$order'`, 'altered', /nothing is in the journal/, '$order'],
  // Records.
  ['an order by hand, in an open month', inventedOrder(`where operation_id = '$order'`), 'extra', /nothing in the journal stored it/, 'invented'],
  ['an order by hand, with a page', `${inventedOrder(`where operation_id = '$order'`)};
    update sync.pages set ids = ids || '{invented}' where ids @> '{$order}'`, 'extra', /nothing in the journal stored it/, 'invented'],
  ['an order gone with its page entry', `delete from archive.orders where operation_id = '$order'; update sync.pages set ids = array_remove(ids, '$order')`, 'missing', /was archived by entry \d+ of \d{4}-/, '$order'],
  ['an order gone with its pages', `delete from archive.orders where operation_id = '$order'; delete from sync.pages where ids @> '{$order}'`, 'missing', /was archived by entry/, '$order'],
  ['a certified order gone, page, certificate and all', `delete from archive.orders where operation_id = '$certified'; update sync.pages set ids = array_remove(ids, '$certified'); truncate sync.certificates`, 'missing', /was archived by entry/, '$certified'],
  ['an order altered with its digest, certificates gone', `update archive.orders o set raw = ${forgedRaw}, message = 'forged', raw_sha256 = ${forgedSha(`(${forgedRaw})`)} from archive.orders n
    where n.operation_id = o.operation_id and o.operation_id = '$certified'; truncate sync.certificates`, 'altered', /archived by entry/, '$certified'],
  // Certificates.
  ['the newest certificate gone', `delete from sync.certificates where resource = 'orders'`, 'certificate', /was issued, and is no longer held/],
  ['all certificates gone', `delete from sync.certificates`, 'certificate', /was issued, and is no longer held/],
  ['a month that should have one', `delete from sync.certificates; delete from sync.journal where kind = 'certified'; update sync.runs set started_at = (started_at at time zone 'UTC' + interval '2 days') at time zone 'UTC'`, 'certificate', /is over, and no certificate says/],
  ['a certificate altered, row and all', `update sync.certificates set certificate = jsonb_set(certificate, '{lost_days}', '["2026-03-01"]')`, 'certificate', /is not as it was issued/],
  ['a certificate by hand', `insert into sync.certificates select project_id, resource, '2020-02-01', certified_at, certificate, digest, leaves_sha256, 1 from sync.certificates where resource = 'orders'`, 'certificate', /nothing in the journal issued it/],
  // The journal itself.
  ['an entry altered', `update sync.journal set body = body || ' ' where ${ofFirst}`, 'journal', /entry \d+, of orders, does not follow/],
  ['an entry of contents altered', `update sync.journal set ids = array_remove(ids, ids[1]), shas = substring(shas from 33) where ${ofSealed} and shas is not null`, 'journal', /does not follow/],
  ['an entry of another day', `update sync.journal set day = '2026-03-02' where ${ofFirst}`, 'journal', /entry \d+, of orders, does not follow/],
  ['the head of an entry altered', `update sync.journal set head = sha256('x') where ${ofFirst}`, 'journal', /entry \d+, of orders, does not follow/],
  ['an entry gone', `delete from sync.journal where ${ofFirst}`, 'journal', /does not follow/],
  ['the last entry gone', `delete from sync.journal where no = (select max(no) from sync.journal)`, 'journal', /does not end with entry/],
  ['an entry that is no JSON', `update sync.journal set body = 'x' where ${ofSealed} and kind = 'ledger'`, 'journal', /cannot be read: it was altered/],
  ['the last entries gone', `delete from sync.journal where no > (select max(no) - 3 from sync.journal)`, 'journal', /does not end with entry/],
  ['the records of the chain', `update sync.chains set orders = orders + 1`, 'journal', /the chain counts \d+ of orders, and its entries stored \d+/],
  ['the end of the chain', `update sync.chains set head = sha256('x')`, 'journal', /does not end with entry/],
  ['an order gone, and all that is told of its list', `delete from archive.orders where operation_id = '$order'; update sync.pages set ids = array_remove(ids, '$order');
    delete from sync.journal where resource = 'orders'`, 'journal', /does not follow from the entry before it/],
];
