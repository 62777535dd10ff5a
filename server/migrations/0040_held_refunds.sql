-- What a person lets go on goes where it was on its way to: a refund that was held stays a refund, and says why it is one.
alter table executions
  add column release_status text check (release_status in ('exchanging', 'refunding')),
  add column release_reason text;
alter table executions drop constraint executions_decision_check;
alter table executions add constraint executions_decision_check check (decision in ('release', 'refund', 'convert', 'fail'));

update executions x set release_status =
  case when d.asset_id is distinct from e.legs -> x.leg -> 'from' ->> 'id'
      or exists (select 1 from payouts p where p.execution_id = x.id and p.purpose = 'refund' and p.state <> 'void')
      or (select v.status from events v where v.execution_id = x.id and v.status <> 'verifying' order by v.id desc limit 1) = 'refunding'
    then 'refunding' else 'exchanging' end
from exchanges e, deposits d
where x.status = 'verifying' and e.id = x.exchange_id and d.id = x.deposit_id;

-- An order gives what its execution really received, as what it is: no token is ever counted as another one.
create function check_order_is_backed() returns trigger language plpgsql as $$
begin
  if not exists (
    select 1 from executions x join deposits d on d.id = x.deposit_id
    where x.id = new.execution_id and d.status = 'credited' and d.asset_id = new.give_asset and d.credited_units = new.give_units
  ) then
    raise exception 'order % gives what execution % did not receive', new.id, new.execution_id using errcode = '23514';
  end if;
  return null;
end $$;
create trigger order_is_backed after insert on orders for each row execute function check_order_is_backed();

-- A payout gives what was converted for its execution, a refund what came in; and all that is reserved or signed for an
-- exchange is covered by what the exchange is owed: nobody is paid out of what another deposit brought.
create function check_payout_is_backed() returns trigger language plpgsql as $$
declare owed numeric; promised numeric;
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
  select coalesce(-sum(units), 0) into owed from balances
    where account = 'liability:exchange:' || new.exchange_id and asset_id = new.asset_id;
  select coalesce(sum(p.units), 0) into promised from executions x join payouts p on p.execution_id = x.id
    where x.exchange_id = new.exchange_id and p.asset_id = new.asset_id and p.purpose in ('payout', 'refund')
      and p.state in ('reserved', 'signed');
  if promised > owed then
    raise exception 'payouts of exchange % are not covered by what it is owed', new.exchange_id using errcode = '23514';
  end if;
  return null;
end $$;
create trigger payout_is_backed after insert on payouts for each row
  when (new.execution_id is not null and new.state = 'reserved') execute function check_payout_is_backed();
