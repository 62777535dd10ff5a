-- The double-entry ledger. `core/domain/ledger/chart.ts` has the chart of accounts.

-- Journal entries. The id names the event (`deposit:<id>:credit:<n>`, …), so an event is booked once. Append-only.
create table journal (
  id text primary key,
  event text not null,
  exchange_id uuid references exchanges,
  at timestamptz not null default clock_timestamp()
);
create index journal_of_exchange on journal (exchange_id);
-- Reports read periods. Entries are appended in the order of their time.
create index journal_by_time on journal using brin (at);
create trigger journal_append_only before update or delete on journal for each row execute function forbid_change();
create trigger journal_no_truncate before truncate on journal execute function forbid_change();

-- One amount from one account to another. Debit and credit share the row, so no entry can be unbalanced (I-1).
-- Append-only.
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
create trigger postings_append_only before update or delete on postings for each row execute function forbid_change();
create trigger postings_no_truncate before truncate on postings execute function forbid_change();

-- Debits less credits of each account, updated in the transaction of the posting. An asset account never falls below
-- zero, and a liability never becomes a claim (I-2).
create table balances (
  account text not null,
  asset_id text not null,
  units numeric(78, 0) not null,
  -- Of `liability:exchange:<id>`: the total of its payouts that are reserved or signed. Updated by triggers of `payouts`.
  promised units not null default 0,
  primary key (account, asset_id),
  check (case split_part(account, ':', 1) when 'asset' then units >= 0 when 'liability' then units <= 0 else true end)
);

-- What is owed to partners and to unknown senders: not part of the stock. Without `units`, so that it may change in place.
create index balances_owed on balances (asset_id) where account = 'liability:unclaimed' or starts_with(account, 'liability:partner:');

-- Applies the inserted postings to `balances`. Rows are updated in the order of their key, so that entries over the same
-- accounts cannot deadlock. A new row is inserted with zero and then updated: in an upsert the check would apply to the
-- change alone, not to the resulting balance.
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
create trigger postings_apply after insert on postings referencing new table as added
  for each statement execute function apply_postings();

-- Only triggers change balances: that of `postings`, and those of `payouts`. Outside of a trigger the depth is zero.
create function forbid_balance_change() returns trigger language plpgsql as $$
begin
  raise exception 'balances follow from postings' using errcode = '42501';
end $$;
create trigger balances_follow_postings before insert or update or delete on balances
  for each statement when (pg_trigger_depth() = 0) execute function forbid_balance_change();
create trigger balances_no_truncate before truncate on balances execute function forbid_balance_change();

-- Append-only: rows are frozen soon after their insert.
alter table journal set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table postings set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- Space for the next version of a row on its page: `units` and `promised` are in no index.
alter table balances set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
