// What the journal says of the ledger, its pages, its evidence, its rejects and its certificates, against what stands
// there: statements whose rows are findings, for check-journal.ts. `$1` is the project, `$2` the resource. None uses a
// function of the database's own, as in check-journal-contents.ts.
import { windowAt } from '../day.ts';
import { isListed, type ProjectId, type Resource } from '../model.ts';
import { monthsToCertify } from '../store/certificates.ts';
import { onlyRow, type Tx } from '../store/db.ts';
import { pageDigest } from '../store/walked-pages.ts';
import { reportRows, type Report } from './finding.ts';

type Of = { projectId: ProjectId; resource: Resource };

/** All of them that a resource has. */
export async function checkLedger(tx: Tx, of: Of, report: Report): Promise<void> {
  const isList = isListed(of.resource);
  const checks = isList ? [rejects, ...ofLists] : [rejects];
  for (const sql of checks) await reportRows(tx, sql, [of.projectId, of.resource], report);
  if (isList) await checkMonths(tx, of, report);
}

const utc = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/**
 * What of a ledger's row is journalled, as an expression on the row `s`: as the migration's `sync.ledger_of` has it.
 */
const ledgerOf = `jsonb_build_object(
    'state', s.state, 'proof', s.proof, 'whole_walk', s.whole_walk,
    'platform_total', s.platform_total, 'shown_total', s.shown_total, 'unresolved', s.unresolved,
    'deadline_at', ${utc('s.deadline_at')},
    'proved_at', case when s.state <> 'open' then ${utc('s.proved_at')} end,
    'walked_at', case when s.state <> 'open' then ${utc('s.walked_at')} end)`;

const ofOwner = `case owner when '' then '' else 'of ' || owner || ': ' end`;

const field = (of: string, name: string): string => `coalesce(${of} ->> ${name}, 'not set')`;

/** Where two rows of the ledger differ: an expression on both. */
const differing = (held: string, said: string): string =>
  `(select coalesce(string_agg(format('%s was %s, and %s is in the journal', name, ${field(held, 'name')}, ${field(said, 'name')}), '; '), '')
      from jsonb_object_keys(${held}) name
     where ${held} -> name is distinct from ${said} -> name)`;

/**
 * Rows of the ledger that are not what was last said of them, that are gone, or that nobody entered. What was first
 * shown of a day (`news_no`) is said by the entries of its pages.
 */
const ledger = `
  with news as (
    select owner, day, max(no) as news_no from sync.journal
     where project_id = $1 and resource = $2 and kind = 'pages'
       and (body ~ '[,{]"first":[1-9]' or strpos(body, '"moved":') > 0 or strpos(body, '"rejects":') > 0)
     group by 1, 2
  ),
  said as (
    select owner, day, case when kind = 'ledger'
                            then (body::jsonb - 'was') || jsonb_build_object('news_no', coalesce(news_no, 0)) end as ledger
      from (select distinct on (owner, day) owner, day, kind, body
              from sync.journal
             where project_id = $1 and resource = $2 and kind in ('ledger', 'dropped')
             order by owner, day, no desc) newest
      left join news using (owner, day)
  ),
  held as (
    select owner, day, ${ledgerOf} || jsonb_build_object('news_no', news_no) as ledger
      from sync.slices s where project_id = $1 and resource = $2
  )
  select 'ledger' as kind, day as when,
         ${ofOwner} || case
           when held.ledger is null then format('the day is gone from the ledger, which said state %s, proof %s, shown_total %s',
             ${['state', 'proof', 'shown_total'].map((name) => field('said.ledger', `'${name}'`)).join(', ')})
           when said.ledger is null then 'the day is in the ledger, and nothing in the journal entered it'
           else ${differing('held.ledger', 'said.ledger')}
         end as says
    from said full join held using (owner, day)
   where said.ledger is distinct from held.ledger
   order by day, owner`;

/** Rows that said something else than the journal when they were written next. */
const overtaken = `
  with entries as (
    select owner, day, no, body::jsonb as said, lag(body::jsonb - 'was') over (partition by owner, day order by no) as before
      from sync.journal
     where project_id = $1 and resource = $2 and kind in ('ledger', 'dropped')
  )
  select 'ledger' as kind, day as when,
         ${ofOwner} || format('until entry %s was written: ', no)
           || case when said -> 'was' = 'null' then 'the day was gone from the ledger'
                   else ${differing("(said -> 'was')", "coalesce(before, '{}')")} end as says
    from entries where said ? 'was'
   order by day, owner, no`;

/**
 * Days of a list that nothing accounts for between its first and its newest, from the project's first day on (P7). One
 * that was switched off for months, while another went on, is accounted for again from what was the window's first day
 * then: that day's line was made after its month.
 */
const unaccounted = `
  with lists as (
    select s.owner, greatest(min(s.day), min(p.first_day)) as first, max(s.day) as newest
      from sync.slices s join sync.projects p using (project_id)
     where s.project_id = $1 and s.resource = $2 and s.day > '0001-01-01'
     group by s.owner
  ),
  -- Nearly always none.
  gaps as materialized (
    select lists.owner, d::date as day
      from lists
     cross join generate_series(first::timestamp, newest::timestamp, interval '1 day') d
     where not exists (select from sync.slices s
                        where s.project_id = $1 and s.resource = $2 and s.owner = lists.owner and s.day = d::date)
       and not exists (select from sync.journal j
                        where j.project_id = $1 and j.resource = $2 and j.owner = lists.owner and j.day = d::date
                          and j.kind = 'dropped')
  ),
  ends as materialized (
    select *, (select min(s.day) from sync.slices s
                where s.project_id = $1 and s.resource = $2 and s.owner = gaps.owner and s.day > gaps.day) as next
      from gaps
  )
  select 'ledger' as kind, day as when, ${ofOwner} || 'nothing in the ledger accounts for the day' as says
    from ends
   where not (next = date_trunc('month', next)
              and exists (select from sync.slices s where s.project_id = $1 and s.day = ends.day)
              and (select min(j.entered_at) from sync.journal j
                    where j.project_id = $1 and j.resource = $2 and j.owner = ends.owner and j.day = next
                      and j.kind = 'ledger') >= next + interval '1 month')
   order by day, owner`;

type Sides = {
  /** Two relations of the same columns, `owner` and `day` among them. */
  said: string;
  held: string;
  /** The columns that name a row. */
  by: string;
  /** What a row is called, and what was done with it. */
  name: string;
  how: string;
  /** What is said of one that is not there. */
  gone?: string;
  /** What counts besides. */
  where?: string;
  /** An expression on `is_held` and `is_said`. */
  kind?: string;
};

/** What was entered and is not there as it was, or that nobody entered. */
const compared = ({
  said,
  held,
  by,
  name,
  how,
  gone = `was ${how}, and is no longer held`,
  where = 'true',
  kind = `'ledger'`,
}: Sides): string => `
  with said as (${said}), held as (${held})
  select ${kind} as kind, day as when,
         name || case owner when '' then '' else ' of ' || owner end
           || case when not is_held then ' ${gone}'
                   when is_said then ' is not as it was ${how}'
                   else ' is held, and nothing in the journal ${how} it' end as says
    from (select coalesce(said.owner, held.owner) as owner, coalesce(said.day, held.day) as day, ${name} as name,
                 held.owner is not null as is_held, said.owner is not null as is_said
            from said full join held using (${by})
           where said is distinct from held and ${where}
           order by day, owner, ${by}) found`;

/** Of the walks that count: the last whole one and the one in progress. */
const pages = compared({
  said: `select distinct on (owner, day, walk, page) owner, day, (said ->> 'walk')::int as walk,
                (one ->> 0)::int as page, one ->> 1 as digest
           from (select no, owner, day, body::jsonb as said
                   from sync.journal where project_id = $1 and resource = $2 and kind = 'pages') j
          cross join jsonb_array_elements(said -> 'pages') one
          order by owner, day, walk, page, no desc`,
  held: `select owner, day, walk, page, ${pageDigest} as digest
           from sync.pages p where project_id = $1 and resource = $2`,
  by: 'owner, day, walk, page',
  name: `format('page %s of walk %s', page, walk)`,
  how: 'entered',
  where: `(held.owner is not null
           or exists (select from sync.slices s
                       where s.project_id = $1 and s.resource = $2 and s.owner = said.owner and s.day = said.day
                         and said.walk in (s.whole_walk, s.walk)))`,
});

const evidence = (kind: string, table: string, day: string, name: string): string =>
  compared({
    said: `select no, owner, ${day} as day, body::jsonb as content from sync.journal
            where project_id = $1 and resource = $2 and kind = '${kind}'`,
    held: `select no, owner, ${day} as day, to_jsonb(e) - '{project_id,resource,owner,no,day}'::text[] as content
             from ${table} e where project_id = $1 and resource = $2`,
    by: 'no',
    name: `format('${name}', no)`,
    how: 'added',
    // Not that somebody added it, whom the journal does not know.
    gone: 'is in the journal, and the table lacks it',
  });

/** One that became a record is gone rightly. */
const rejects = compared({
  said: `select owner, day, one ->> 0 as sha256, (one ->> 1)::timestamptz as seen_at, one ->> 2 as reason, one ->> 3 as kept
           from sync.journal
          cross join jsonb_array_elements(body::jsonb -> 'rejects') one
          where project_id = $1 and resource = $2 and kind <> 'returned' and strpos(body, '"rejects"') > 0
            and not exists (select from sync.journal back
                             where back.project_id = $1 and back.resource = $2 and back.kind = 'returned'
                               and back.body::jsonb ->> 'reject' = one ->> 0)`,
  // As it was entered: of bytes that are all there, sha256 is the digest (check-records.ts).
  held: `select owner, day, encode(sha256, 'hex') as sha256, seen_at, reason,
                case when whole_length is not null then encode(sha256(bytes), 'hex') end as kept
           from sync.rejects where project_id = $1 and resource = $2`,
  by: 'sha256',
  name: `'reject ' || sha256`,
  how: 'kept',
  kind: `case when not is_held then 'missing' when is_said then 'altered' else 'extra' end`,
});

const certificates = compared({
  said: `select '' as owner, to_char(day, 'YYYY-MM') as day, (body::jsonb ->> 'issue')::int as issue, body::jsonb ->> 'sha256' as sha256
           from sync.journal where project_id = $1 and resource = $2 and kind = 'certified'`,
  held: `select '' as owner, to_char(month, 'YYYY-MM') as day, issue, encode(sha256(convert_to(certificate::text, 'UTF8')), 'hex') as sha256
           from sync.certificates where project_id = $1 and resource = $2`,
  by: 'day, issue',
  name: `format('certificate %s of the month', issue)`,
  how: 'issued',
  kind: `'certificate'`,
});

const ofLists = [
  ledger,
  overtaken,
  unaccounted,
  pages,
  evidence('reading', 'sync.readings', 'day', 'reading %s'),
  evidence('books', 'sync.books', 'null::date', 'row %s of the books'),
  certificates,
];

const dueForMs = 86_400_000;

/** That months which were over a day before somebody last looked have certificates. */
async function checkMonths(tx: Tx, { projectId, resource }: Of, report: Report): Promise<void> {
  // On the platform's clock: what should have been done by then can be told without asking anybody. A run that was
  // killed, or ended by an error, came to no certificate: only one that was done says what is owed.
  const looked = await tx.query<{ at: string | null }>(
    `select case when exists (select from sync.runs where project_id = $1)
                 then (select max(started_at) from sync.runs
                        where project_id = $1 and outcome in ('done', 'quiet', 'part', 'idle'))
                 else (select max(observed_at) from sync.slices where project_id = $1)
            end as at`,
    [projectId],
  );
  const { at } = onlyRow(looked);
  if (at === null) return;
  const overBy = Date.parse(at) - dueForMs;
  const { from } = windowAt(overBy);
  const due = await monthsToCertify(tx, projectId, from, new Date(overBy).toISOString());
  for (const { month } of due.filter((one) => one.resource === resource)) {
    const says = 'the month is over, and no certificate says what was held of it then';
    await report({ kind: 'certificate', when: month.slice(0, 7), id: null, says });
  }
}
