-- Private exchanges: two legs, and the intermediary between them. What was drawn and chosen for one stands with it from its
-- create on: every delay, and how much of the intermediary's amount is withheld from its chain, is known before the act.
alter table exchanges add column plan jsonb;

create function check_plan_stays() returns trigger language plpgsql as $$
begin
  raise exception 'immutable column' using errcode = '23514';
end $$;
create trigger exchange_plan_stays before update of plan, legs on exchanges for each row
  when (new.plan is distinct from old.plan or new.legs is distinct from old.legs) execute function check_plan_stays();

-- Where a further leg's coins arrive: fresh for each payout of the leg before, and known to nobody outside. `source_execution`
-- is the execution that pays there.
alter table deposit_targets
  add column nth int not null default 0,
  add column source_execution uuid references executions,
  add check (nth = 0 or leg > 0),
  drop constraint deposit_targets_pkey,
  add primary key (exchange_id, leg, nth);
alter table executions add column source_execution uuid references executions;
-- A payout brings the next leg one deposit, whichever of its attempts the chain takes.
create unique index executions_by_source on executions (source_execution) where source_execution is not null;

-- Of a further leg's deposit the name may change while it is in no block: another attempt of the same payment.
create or replace function check_deposit_update() returns trigger language plpgsql as $$
begin
  if (new.id, new.network, new.address, new.memo, new.units) is distinct from (old.id, old.network, old.address, old.memo, old.units)
    or ((new.identity, new.tx_hash) is distinct from (old.identity, old.tx_hash)
      and (coalesce(old.leg, 0) = 0 or old.block_height is not null))
    or new.exchange_id is distinct from old.exchange_id or new.asset_id is distinct from old.asset_id or new.credits < old.credits then
    raise exception 'immutable column' using errcode = '23514';
  end if;
  return new;
end $$;

-- A further leg's refund goes back in the source coin: it gives what its own order took, and never more.
create or replace function check_payout_is_backed() returns trigger language plpgsql as $$
declare owed numeric; total numeric;
begin
  if new.purpose = 'refund' and not exists (
    select 1 from executions x join deposits d on d.id = x.deposit_id
    where x.id = new.execution_id and d.status = 'credited' and (
      (x.leg = 0 and d.asset_id = new.asset_id and d.credited_units >= new.units) or
      (x.leg > 0 and exists (select 1 from orders o where o.id = x.order_id and o.state = 'filled'
        and o.give_asset = d.asset_id and o.take_asset = new.asset_id and o.take_units >= new.units)))
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
