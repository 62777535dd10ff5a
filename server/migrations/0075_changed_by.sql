-- Which transaction last changed what a status shows: a process that keeps answers asks which of them are old by now
-- (docs/decisions/0072). Null = not since it was created (exchanges), or not since this migration.
alter table exchanges add changed_by xid8;
alter table executions add changed_by xid8;
alter table payouts add changed_by xid8;
alter table executions alter changed_by set default pg_current_xact_id();
alter table payouts alter changed_by set default pg_current_xact_id();

create function note_change() returns trigger language plpgsql as $$
begin
  new.changed_by := pg_current_xact_id();
  return new;
end $$;
-- When an exchange is looked at next, and which deposit its step has come to, no status shows.
create trigger exchange_changed before update of status, reason, refund_address, refund_memo, expires_at, fixed_until
  on exchanges for each row execute function note_change();
create trigger execution_changed before update on executions for each row execute function note_change();
-- Of payouts a status shows those that go back.
create trigger payout_changed before update on payouts for each row when (new.purpose = 'refund') execute function note_change();

create index exchanges_changed on exchanges (changed_by) where changed_by is not null;
create index executions_changed on executions (changed_by);
create index refunds_changed on payouts (changed_by) where purpose = 'refund';
