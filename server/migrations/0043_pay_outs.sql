-- What the house owes by no exchange: partners' balances, and what nobody has claimed. A pay-out takes it out of that
-- account in the transaction that asks for it, so that nothing is owed twice.
alter table payouts add column owed_from text
  check (owed_from is null or (purpose = 'withdrawal' and (owed_from = 'liability:unclaimed' or owed_from like 'liability:partner:%')));

create function check_withdrawal_is_backed() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from balances where account = 'liability:withdrawal:' || new.id and asset_id = new.asset_id and units = -new.units) then
    raise exception 'pay-out % is not taken out of what is owed', new.id using errcode = '23514';
  end if;
  return null;
end $$;
create trigger withdrawal_is_backed after insert on payouts for each row
  when (new.owed_from is not null) execute function check_withdrawal_is_backed();

create function check_owed_from() returns trigger language plpgsql as $$
begin
  if new.owed_from is distinct from old.owed_from then
    raise exception 'immutable column' using errcode = '23514';
  end if;
  return new;
end $$;
create trigger payout_owed_from before update of owed_from on payouts for each row execute function check_owed_from();
