// What of the ledger is due: the next slice to work on, how many there are, and what a forecast goes by. Reads only; quick
// whatever the years, for what is final is left out.
import type { Day, DayRange, Instant, ListedResource, ProjectId, SliceKey } from '../model.ts';
import { onlyRow, type Queryable } from './db.ts';
import { isEndless, iso, msOf, slicesWhere, type Slice } from './ledger.ts';

/** Half-open days, one resource; absent means all. */
export type Only = { days?: DayRange; resource?: ListedResource };

type DueOptions = {
  projectId: ProjectId;
  /** Slices due at or before this moment (platform's clock); null: due or not. */
  dueBy: Instant | null;
  /** The day whose tail goes ahead. */
  today: Day;
  only?: Only;
  /** Slices that are worked on, or that this run is done with. */
  except?: SliceKey[];
  /** The lists that may be asked; absent: all. */
  lists?: readonly Pick<SliceKey, 'resource' | 'owner'>[];
  /** Days before this one have left the window by every clock: they are concluded though their list is not asked. */
  lapsedBefore?: Day;
};

/** The condition that both questions share. */
const wanted = `project_id = $1
        and ($2::timestamptz is null or due_at <= $2
             -- Whatever is due is due within a day, but for days to come and an owner's whole list: what lies beyond was
             -- set by a clock that was wrong, and binds nobody.
             or (due_at > greatest($2, day::timestamp at time zone 'UTC') + interval '25 hours'
                 and (day > '0001-01-01' or walked_at > $2::timestamptz + interval '1 hour')))
        and ($3::date is null or day >= $3)
        and ($4::date is null or day < $4)
        and ($5::text is null or resource = $5)
        and (resource, owner, day) not in (select * from unnest($6::text[], $7::text[], $8::date[]))
        and ($9::text[] is null
             or (resource, owner) in (select * from unnest($9::text[], $10::text[]))
             or (day < $11::date and not ${isEndless}))`;

function wantedValues(of: Omit<DueOptions, 'today'>): unknown[] {
  const { only, except = [], lists, lapsedBefore = null } = of;
  return [
    of.projectId,
    iso(of.dueBy),
    only?.days?.from ?? null,
    only?.days?.to ?? null,
    only?.resource ?? null,
    except.map((slice) => slice.resource),
    except.map((slice) => slice.owner),
    except.map((slice) => slice.day),
    lists?.map((list) => list.resource) ?? null,
    lists?.map((list) => list.owner) ?? null,
    lapsedBefore,
  ];
}

/**
 * The next due slice: today's first, for its tail is small, then the nearest deadline, and of a month first the days never
 * read to their ends: they alone can be lost. Null when nothing is due.
 */
export async function nextSlice(db: Queryable, options: DueOptions): Promise<Slice | null> {
  const [slice] = await slicesWhere(
    db,
    `${wanted}
      order by (day = $12::date) desc, deadline_at, (whole_walk > 0), day, resource, owner
      limit 1`,
    [...wantedValues(options), options.today],
  );
  return slice ?? null;
}

/** How many slices are due by then (null: at all) besides `except`. */
export async function countDue(
  db: Queryable,
  projectId: ProjectId,
  dueBy: Instant | null,
  of: Pick<DueOptions, 'only' | 'except' | 'lists'> = {},
): Promise<number> {
  const { rows } = await db.query<{ due: number }>(
    `select count(*)::int as due from sync.slices where ${wanted}`,
    wantedValues({ ...of, projectId, dueBy }),
  );
  return rows[0]?.due ?? 0;
}

/**
 * What the last attempt at the newest day of a list said, where it failed and the next one is not due yet; null: none
 * waits so. Of an older day it says nothing: one stubborn day is no platform that is down.
 */
export async function newestFailure(db: Queryable, projectId: ProjectId): Promise<string | null> {
  const { rows } = await db.query<{ error: string | null }>(
    `select last_error as error
       from (select distinct on (resource, owner) attempts, last_error
               from sync.slices where project_id = $1
              order by resource, owner, day desc) newest
      where attempts > 0 order by last_error limit 1`,
    [projectId],
  );
  return rows[0]?.error ?? null;
}

type Outlook = {
  /** Neither final nor lost. */
  slices: Slice[];
  /** Requests a second that the last process was allowed; null while none has asked. */
  perSecond: number | null;
  /** The platform's clock at the end of the newest run; null before the first. */
  newestRunAt: Instant | null;
};

export async function readOutlook(db: Queryable, projectId: ProjectId): Promise<Outlook> {
  const slices = await slicesWhere(
    db,
    `project_id = $1 and state in ('open', 'walked', 'sealed')
      order by deadline_at, day, resource desc, owner`,
    [projectId],
  );
  const pace = await db.query<Omit<Outlook, 'slices'>>(
    `select (select per_second::float8 from sync.rate where project_id = $1) as "perSecond",
            (select ${msOf('max(ended_at)')} from sync.runs where project_id = $1) as "newestRunAt"`,
    [projectId],
  );
  return { slices, ...onlyRow(pace) };
}
