-- What a person did at the command line that money depends on, and why (I-28). Append-only.
create table operator_acts (
  id bigint primary key generated always as identity,
  at timestamptz not null default clock_timestamp(),
  actor text not null check (actor <> ''),
  act text not null,
  subject text not null,
  reason text not null check (reason <> ''),
  detail jsonb not null default '{}'
);
create index operator_acts_of_subject on operator_acts (subject, id);
create trigger operator_acts_append_only before update or delete on operator_acts for each row execute function forbid_change();
create trigger operator_acts_no_truncate before truncate on operator_acts execute function forbid_change();

create index payouts_held on payouts (created_at) where state = 'reserved' and attention is not null;
