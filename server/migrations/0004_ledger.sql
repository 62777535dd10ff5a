-- Double entry. A posting is one amount, one debit and one credit account, so no journal entry can be unbalanced (I-1).

create table journal (
  id text primary key,
  event text not null,
  exchange_id uuid references exchanges,
  at timestamptz not null default clock_timestamp()
);
create index journal_of_exchange on journal (exchange_id);

create table postings (
  journal_id text not null references journal,
  position int not null,
  debit text not null,
  credit text not null,
  asset_id text not null,
  units units not null check (units > 0),
  primary key (journal_id, position),
  check (debit <> credit)
);

-- Debits less credits. Kept by trigger in the transaction of the posting; an asset account never falls below zero (I-2),
-- nor does what we owe turn into a claim.
create table balances (
  account text not null,
  asset_id text not null,
  units numeric(78, 0) not null,
  primary key (account, asset_id),
  check (case split_part(account, ':', 1) when 'asset' then units >= 0 when 'liability' then units <= 0 else true end)
);

-- Rows are changed in one order, so that two entries over the same accounts cannot deadlock. A row is made at zero first:
-- the checks of an upsert would judge the change alone, and not what it comes to.
create function apply_postings() returns trigger language plpgsql as $$
declare change record;
begin
  for change in
    select account, asset_id, sum(delta) as delta from (
      select debit as account, asset_id, units as delta from added
      union all
      select credit, asset_id, -units from added
    ) changes group by account, asset_id having sum(delta) <> 0 order by account, asset_id
  loop
    update balances set units = units + change.delta where account = change.account and asset_id = change.asset_id;
    if not found then
      insert into balances (account, asset_id, units) values (change.account, change.asset_id, 0) on conflict do nothing;
      update balances set units = units + change.delta where account = change.account and asset_id = change.asset_id;
    end if;
  end loop;
  return null;
end $$;
create trigger postings_apply after insert on postings referencing new table as added for each statement execute function apply_postings();

create function forbid_change() returns trigger language plpgsql as $$
begin
  raise exception 'table % is append-only', tg_table_name using errcode = '42501';
end $$;
create trigger journal_append_only before update or delete on journal for each row execute function forbid_change();
create trigger postings_append_only before update or delete on postings for each row execute function forbid_change();
create trigger events_append_only before update or delete on events for each row execute function forbid_change();
create trigger journal_no_truncate before truncate on journal execute function forbid_change();
create trigger postings_no_truncate before truncate on postings execute function forbid_change();
