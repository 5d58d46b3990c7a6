// An audit of who wrote what to the ledger and its pages (P8), kept by triggers in a schema of its own that the
// archive knows nothing of. A session tells who it belongs to by a setting that its address carries (replicas.ts).
import type { Queryable } from '../../src/store/db.ts';

/** Run once as the owner, after the migrations. */
export async function installAudit(db: Queryable): Promise<void> {
  await db.query(`
    drop schema if exists torture cascade;
    create schema torture;
    create table torture.writes (
      n          bigint generated always as identity primary key,
      written_at timestamptz not null default clock_timestamp(),
      replica    text not null,
      what       text not null,
      resource   text collate "C" not null,
      owner      text collate "C" not null,
      day        date not null,
      epoch      bigint not null,
      is_claim   boolean not null
    );
    create function torture.note_slice() returns trigger language plpgsql security definer as $$
    begin
      -- Books judge days without a lease: they touch the verdict and the due time alone.
      if new.lease_epoch = old.lease_epoch
         and (new.lease_holder, new.checkpoint, new.walk, new.whole_walk, new.walked_at, new.observed_at)
             is not distinct from
             (old.lease_holder, old.checkpoint, old.walk, old.whole_walk, old.walked_at, old.observed_at)
      then
        return null;
      end if;
      insert into torture.writes (replica, what, resource, owner, day, epoch, is_claim)
      values (coalesce(current_setting('torture.replica', true), 'nobody'), 'slice',
              new.resource, new.owner, new.day, new.lease_epoch, new.lease_epoch > old.lease_epoch);
      return null;
    end $$;
    create function torture.note_page() returns trigger language plpgsql security definer as $$
    begin
      insert into torture.writes (replica, what, resource, owner, day, epoch, is_claim)
      select coalesce(current_setting('torture.replica', true), 'nobody'), 'page',
             s.resource, s.owner, s.day, s.lease_epoch, false
        from sync.slices s
       where s.project_id = new.project_id and s.resource = new.resource and s.owner = new.owner and s.day = new.day;
      return null;
    end $$;
    create trigger torture_note after update on sync.slices for each row execute function torture.note_slice();
    create trigger torture_note after insert or update on sync.pages for each row execute function torture.note_page();
  `);
}

/** Writes by anybody but whoever had claimed the slice last; and epochs that went back. A sentence each. */
export async function strangersWrites(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ sentence: string }>(
    `with claimed as (
       select *, max(n) filter (where is_claim) over slice as claim, max(epoch) over slice as highest
         from torture.writes
       window slice as (partition by resource, owner, day order by n)
     )
     select format('replica %s wrote a %s of %s %s under epoch %s, which replica %s had claimed',
                   w.replica, w.what, w.resource, w.day, w.epoch, c.replica) as sentence
       from claimed w join torture.writes c on c.n = w.claim
      where w.replica <> c.replica
     union all
     select format('the epoch of %s %s went back from %s to %s', resource, day, highest, epoch)
       from claimed where epoch < highest
      limit 5`,
  );
  return rows.map((row) => row.sentence);
}
