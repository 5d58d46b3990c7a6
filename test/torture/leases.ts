// An audit of who wrote what to the ledger and its pages (P8), kept by triggers in a schema of its own that the
// archive knows nothing of. A session tells who it belongs to by a setting that its address carries (replicas.ts).
import type { Queryable } from '../../src/store/db.ts';

/** Run once as the owner, after the migrations. */
export async function installAudit(db: Queryable): Promise<void> {
  await db.query(`
    drop schema if exists torture cascade;
    create schema torture;
    create table torture.writes (
      n       bigint generated always as identity primary key,
      replica text not null default coalesce(current_setting('torture.replica', true), 'nobody'),
      what    text not null,
      of      text not null,
      epoch   bigint not null
    );
    create function torture.note_take() returns trigger language plpgsql security definer as $$
    begin
      insert into torture.writes (what, of, epoch) values ('take', new.project_id, new.epoch);
      return null;
    end $$;
    create function torture.note_write() returns trigger language plpgsql security definer as $$
    begin
      insert into torture.writes (what, of, epoch)
      select tg_argv[0], concat(new.resource, ' ', new.day), h.epoch
        from sync.holders h where h.project_id = new.project_id;
      return null;
    end $$;
    create trigger torture_note after update on sync.holders for each row
      when (new.epoch <> old.epoch) execute function torture.note_take();
    create trigger torture_note after update on sync.slices for each row execute function torture.note_write('slice');
    create trigger torture_note after insert or update on sync.pages for each row execute function torture.note_write('page');
  `);
}

/** Writes by anybody but whoever took the project last; and epochs that went back. A sentence each. */
export async function strangersWrites(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ sentence: string }>(
    `with taken as (
       select *, max(n) filter (where what = 'take') over (order by n) as take, max(epoch) over (order by n) as highest
         from torture.writes
     )
     select format('replica %s wrote a %s of %s under epoch %s, which replica %s had taken',
                   w.replica, w.what, w.of, w.epoch, t.replica) as sentence
       from taken w join torture.writes t on t.n = w.take
      where w.replica <> t.replica
     union all
     select format('the epoch went back from %s to %s', highest, epoch)
       from taken where epoch < highest
      limit 5`,
  );
  return rows.map((row) => row.sentence);
}
