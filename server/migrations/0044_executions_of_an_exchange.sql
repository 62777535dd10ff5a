-- Anybody may send anything to a deposit address, as often as they like: no question about one exchange reads all of its
-- deposits. Every index below answers one of them.

-- A step goes through an exchange in windows; null = from its first execution.
alter table exchanges add column stepped_to bigint references deposits;

create index executions_in_order on executions (exchange_id, leg, deposit_id);
drop index executions_of_exchange;
create index executions_by_status on executions (exchange_id, status, leg, deposit_id);
-- Who has the fixed rate; one at most, but for what is taken back.
create index executions_at_a_rate on executions (exchange_id, leg) where rate_kind <> 'floating';

-- Counted and off the chain, lost and on it, or on it and not counted: what a closed execution may still have to do.
create index deposits_adrift on deposits (exchange_id, leg, id)
  where (block_height is null and status = 'credited') or (block_height is not null and (lost or status in ('seen', 'reversed')));
-- Which of an asset was the first.
create index deposits_in_order on deposits (exchange_id, leg, asset_id, id) where block_height is not null and status <> 'rejected';
-- When a transaction's first transfer was seen.
create index deposits_of_transaction on deposits (network, tx_hash, exchange_id, first_seen_at);
create index sightings_of_exchange_live on sightings (exchange_id) where gone_at is null;
drop index sightings_of_exchange;

-- Every payout asks how many there were for its deposit, and every sweep what it collected.
create index payouts_of_deposit on payouts (deposit_id) where deposit_id is not null;
create index deposits_swept on deposits (swept_by) where swept_by is not null;

-- What is reserved or signed for an exchange stands beside what it is owed, so that nobody has to add it up.
alter table balances add column promised units not null default 0;
update balances b set promised = p.units from (
  select exchange_id, asset_id, sum(units) as units from payouts
  where execution_id is not null and state in ('reserved', 'signed') group by exchange_id, asset_id) p
where b.account = 'liability:exchange:' || p.exchange_id and b.asset_id = p.asset_id;

create or replace function check_payout_is_backed() returns trigger language plpgsql as $$
declare owed numeric; total numeric;
begin
  if new.purpose = 'refund' and not exists (
    select 1 from executions x join deposits d on d.id = x.deposit_id
    where x.id = new.execution_id and d.status = 'credited' and d.asset_id = new.asset_id and d.credited_units >= new.units
  ) then
    raise exception 'refund % gives what execution % did not receive', new.id, new.execution_id using errcode = '23514';
  end if;
  if new.purpose = 'payout' and not exists (
    select 1 from executions x join orders o on o.id = x.order_id
    where x.id = new.execution_id and o.state = 'filled' and o.take_asset = new.asset_id and o.take_units >= new.units
  ) then
    raise exception 'payout % gives what was not converted for execution %', new.id, new.execution_id using errcode = '23514';
  end if;
  -- The row is locked by this: what confirms another payout of the exchange changes both of its columns, or neither yet.
  update balances set promised = promised + new.units
    where account = 'liability:exchange:' || new.exchange_id and asset_id = new.asset_id returning -units, promised into owed, total;
  if not found or total > owed then
    raise exception 'payouts of exchange % are not covered by what it is owed', new.exchange_id using errcode = '23514';
  end if;
  return null;
end $$;

create function release_promised() returns trigger language plpgsql as $$
begin
  update balances set promised = promised - old.units
    where account = 'liability:exchange:' || old.exchange_id and asset_id = old.asset_id;
  return null;
end $$;
create trigger payout_promised after update of state on payouts for each row
  when (old.execution_id is not null and old.state in ('reserved', 'signed') and new.state in ('confirmed', 'void'))
  execute function release_promised();
