// What is held against the journal: every content that was stored, and no other; when it was observed; the ledger, its
// pages, its rejects, its certificates. And the journal against itself, and against heads that were kept elsewhere: who
// makes the whole chain anew is found out by a head that left the machine before.
import { codeOf } from '../errors.ts';
import type { ProjectId, Resource } from '../model.ts';
import type { Tx } from '../store/db.ts';
import { headsHeld, newestHead } from '../store/journal/heads.ts';
import { archivedOf } from '../store/record-tables.ts';
import { checkContents } from './check-journal-contents.ts';
import { checkLedger } from './check-journal-ledger.ts';
import { reportRows, type Finding, type Report } from './finding.ts';

/** Everything of a resource that the journal tells of. */
export async function checkAgainstJournal(
  tx: Tx,
  projectId: ProjectId,
  resource: Resource,
  report: Report,
): Promise<void> {
  try {
    for (const of of archivedOf(projectId, resource)) await checkContents(tx, of, report);
    if (resource !== 'transactions') await checkLedger(tx, { projectId, resource }, report);
  } catch (error) {
    // SQLSTATE class 22: a body that is no JSON any more, or says what it never says.
    if (codeOf(error)?.startsWith('22') !== true) throw error;
    const says = `the journal of ${resource} cannot be read: it was altered`;
    await report({ kind: 'journal', when: null, id: null, says });
  }
}

export type ChainsVerified = Awaited<ReturnType<typeof checkChains>>;

/** The entries that do not follow from the ones before them, in their order; at most a hundred. */
const brokenEntries = `
  with entries as (
    select *, lag(no) over chain as no_before, lag(head) over chain as head_before
      from sync.journal
     where project_id = $1
    window chain as (order by no)
  )
  select 'journal' as kind, day as when,
         format('entry %s, of %s%s, does not follow from the entry before it: it was altered, or one is gone',
                no, resource, case owner when '' then '' else ' of ' || owner end) as says
    from entries
   where no <> coalesce(no_before, 0) + 1
      or head <> sha256(
           coalesce(head_before, sha256(convert_to(project_id, 'UTF8')))
           || convert_to(concat_ws(E'\\t', no, resource, owner, to_char(day, 'YYYY-MM-DD'),
                                   to_char(entered_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), kind, body)
                         || E'\\n' || coalesce(array_to_string(ids, E'\\n'), ''), 'UTF8')
           || coalesce(shas, ''))
   order by no
   limit 100`;

// By the text: a body that was altered may be no JSON, and in one that is, a quote inside a text is escaped.
const stored = (resource: string): string =>
  `coalesce(sum(substring(body, '[,{]"first":(\\d{1,9})')::int) filter (where resource = '${resource}'), 0) as ${resource}`;

/** Where the chain does not end as its row says, or its entries stored another number of records. */
const otherEnd = `
  with said as (select no, head, orders, nft_classes from sync.chains where project_id = $1),
  newest as (select no, head from sync.journal where project_id = $1 order by no desc limit 1),
  entries as (select ${stored('orders')}, ${stored('nft_classes')} from sync.journal where project_id = $1)
  select 'journal' as kind, null as when,
         format('the journal does not end with entry %s, as its chain says', coalesce(said.no, 0)) as says
    from said full join newest on true
   where (said.no, said.head) is distinct from (newest.no, newest.head)
   union all
  select 'journal', null, format('the chain counts %s of %s, and its entries stored %s', counted.said, list, counted.stored)
    from said, newest, entries,
         lateral (values ('orders', said.orders, entries.orders), ('nft_classes', said.nft_classes, entries.nft_classes))
                 counted (list, said, stored)
   where counted.said <> counted.stored`;

/** `kept` are heads in lower-case hex; of these the chain passes through those that `passed` says. */
export async function checkChains(
  tx: Tx,
  projectId: ProjectId,
  kept: readonly string[],
  onFinding: (finding: Finding) => Promise<void> | void,
) {
  let findings = 0;
  const report: Report = (finding) => {
    findings += 1;
    return onFinding({ project_id: projectId, resource: null, ...finding });
  };
  for (const sql of [brokenEntries, otherEnd]) await reportRows(tx, sql, [projectId], report);
  const passed = await headsHeld(tx, projectId, kept);
  for (const [first = '', ...others] of runsWithout(kept, new Set(passed))) {
    const last = others.at(-1);
    const missing =
      last === undefined
        ? `the head ${first} was kept elsewhere, and no entry of this journal has it`
        : `${others.length + 1} heads, from ${first} to ${last}, were kept elsewhere, and no entry of this journal has them`;
    const says = `${missing}: it was made anew, or is an older one`;
    await report({ kind: 'journal', when: null, id: null, says });
  }
  return { project_id: projectId, head: await newestHead(tx, projectId), passed, findings };
}

/**
 * What is not among `passed`, in the runs in which it was kept: a backup that was restored lacks every head since, which
 * is one thing to tell.
 */
function runsWithout(kept: readonly string[], passed: ReadonlySet<string>): string[][] {
  const runs: string[][] = [[]];
  for (const head of kept) {
    if (!passed.has(head)) runs.at(-1)?.push(head);
    else if (runs.at(-1)?.length !== 0) runs.push([]);
  }
  return runs.filter((run) => run.length > 0);
}
