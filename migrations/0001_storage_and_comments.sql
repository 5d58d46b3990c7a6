-- What src/store/schema.ts has no words for: how tables are stored, indexes with columns beside their key, and what
-- people read in a database about a table. What columns of records mean is said in src/resources.ts; what columns of
-- several tables have in common, in 0006_shared_comments.sql; what a column without a comment means, in
-- src/store/schema.ts.
create schema analytics;
comment on schema archive is
  'The records as the platform gave them, and what they said before; nothing is ever deleted here';
comment on schema analytics is
  'Views for people and BI tools: typed, commented, stable; coverage beside every figure that depends on it';

-- A month is found by an index that begins with it, and the figures are read from the index alone: 280,000 orders of a
-- month among ten million. That needs pages which VACUUM has seen, so that it comes by more often than after a fifth of
-- the table.
create index orders_figures on archive.orders (project_id, (date_trunc('month', slice_day::timestamp)::date), slice_day)
  include (status, order_type, amount, number);
alter table archive.orders set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
comment on table archive.orders is 'Orders: the newest content of each, as the platform gave it';

comment on table archive.order_versions is
  'What orders said before they changed, and what came late, typed like the orders; no record here is ever changed';

create index nft_classes_figures on archive.nft_classes (project_id, (date_trunc('month', slice_day::timestamp)::date), slice_day)
  include (nft_count);
alter table archive.nft_classes set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
comment on table archive.nft_classes is 'NFT classes: the newest content of each, as the platform gave it';

comment on table archive.nft_class_versions is
  'What classes said before they changed, typed like the classes; no record here is ever changed';

comment on table archive.transactions is 'Transaction results: the newest content of each, as the platform gave it';

comment on table archive.transaction_versions is
  'What transaction results said before they changed, typed like the results; no record here is ever changed';

comment on table archive.tokens is 'Tokens: the newest content of each, as the platform gave it';

comment on table archive.token_versions is
  'What tokens said before they changed, typed like the tokens; no record here is ever changed';

comment on table archive.certificate_files is
  'The files behind certificate links, each kept once: the links do not live long';
comment on column archive.certificate_files.operation_id is 'The operation whose result gave the link';
comment on column archive.certificate_files.url is 'The link, as it stood in the result';
comment on column archive.certificate_files.bytes is 'The file';
comment on column archive.certificate_files.sha256 is 'SHA-256 of the file';
comment on column archive.certificate_files.media_type is 'As its server named it; null where it did not';
comment on column archive.certificate_files.fetched_at is 'When it was fetched, on the platform''s clock';

-- Renewed often, and read by key.
alter table sync.holders set (fillfactor = 50);

-- A page's entry soon goes: to compress its ids takes longer than to write them.
alter table sync.pages alter column ids set storage external;
alter table sync.pages set (toast_tuple_target = 8160);

comment on table sync.readings is
  'What each whole reading of a past day showed: evidence, only ever added to. Two of them prove a day';

comment on table sync.books is
  'What the platform counted of a span of days, beside what the newest readings of those days showed: only ever '
  'added to';

comment on column sync.rejects.whole_length is
  'Of a record that was too long: bytes holds its beginning, this is the length of all of it, and sha256 its '
  'digest; null: bytes is all';

comment on table sync.taken_requests is
  'Signed requests that wrote something, so that none is taken twice; forgotten after an hour, when their '
  'signatures are too old to open anything';
comment on column sync.taken_requests.signature is 'The request''s signature: SHA-256, the same for the same request';
comment on column sync.taken_requests.taken_at is 'When it was taken, on the database''s clock';

alter table sync.chains set (fillfactor = 50);
comment on table sync.chains is 'Where the journal of each project stands';
comment on column sync.chains.no is 'The number of its newest entry';
comment on column sync.chains.head is
  'The digest of that entry and of all before it: what is worth keeping elsewhere';
comment on column sync.chains.orders is
  'How many orders its entries stored for the first time. Nothing is deleted: as many are held';
comment on column sync.chains.nft_classes is 'The same of classes';

comment on table sync.journal is
  'What was written, in its order: append-only. One entry for each commit that brought anything, and for each '
  'change of the ledger';
comment on column sync.journal.no is
  'From 1 on, without gaps: whoever writes an entry holds the project''s chain until the transaction ends';
comment on column sync.journal.day is 'Of the slice; 0001-01-01 where no day''s list shows it';
comment on column sync.journal.entered_at is 'The database''s clock';
comment on column sync.journal.kind is
  'pages, contents, ledger, reading, books, dropped, missing, returned, certified';
comment on column sync.journal.body is 'JSON: what was written besides contents';
comment on column sync.journal.ids is 'The records of which a content was stored, or that were marked missing';
comment on column sync.journal.shas is 'raw_sha256 of each content, 32 bytes each, one after the other in the order of ids';
comment on column sync.journal.head is 'SHA-256 over the head before it and this entry';
-- Digests do not get smaller, and ids too little for what it takes.
alter table sync.journal alter column shas set storage external, alter column ids set storage external;

comment on column sync.certificates.issue is
  '1 for the first certificate of the month, 2 for the one that replaces it; the greatest counts';
