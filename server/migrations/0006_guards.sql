-- What may still change in a row of the money path, said by the database itself; and the indexes that its questions need.

-- Answers show milliseconds and lists go on by them: what is stored is no finer (a list that goes on would skip rows).
alter table exchanges alter column created_at type timestamptz(3);

-- A payout leaves a transaction only where that one is provably dead (I-9, I-13): a second signature cannot be asked for before.
create function check_payout_update() returns trigger language plpgsql as $$
begin
  if new.state <> old.state and (old.state, new.state) not in
    (('reserved', 'signed'), ('reserved', 'void'), ('signed', 'confirmed'), ('signed', 'reserved')) then
    raise exception 'illegal payout edge % -> %', old.state, new.state using errcode = '23514';
  end if;
  if old.transaction_id is not null and new.transaction_id is distinct from old.transaction_id
    and (select state from transactions where id = old.transaction_id) <> 'expired' then
    raise exception 'payout % is signed for already', old.id using errcode = '23514';
  end if;
  if (new.id, new.purpose, new.network, new.asset_id, new.address, new.memo, new.units, new.branch, new.key_index)
    is distinct from (old.id, old.purpose, old.network, old.asset_id, old.address, old.memo, old.units, old.branch, old.key_index)
    or new.execution_id is distinct from old.execution_id or new.deposit_id is distinct from old.deposit_id then
    raise exception 'immutable column' using errcode = '23514';
  end if;
  return new;
end $$;
create trigger payout_update before update on payouts for each row execute function check_payout_update();

create function check_transaction_update() returns trigger language plpgsql as $$
begin
  if new.state <> old.state and (old.state, new.state) not in (('live', 'confirmed'), ('live', 'expired'), ('confirmed', 'final')) then
    raise exception 'illegal transaction edge % -> %', old.state, new.state using errcode = '23514';
  end if;
  if (new.id, new.network, new.wallet, new.conflict_key, new.resources) is distinct from (old.id, old.network, old.wallet, old.conflict_key, old.resources) then
    raise exception 'immutable column' using errcode = '23514';
  end if;
  return new;
end $$;
create trigger transaction_update before update on transactions for each row execute function check_transaction_update();

-- Bytes that may have left are what they were (I-11).
create function check_attempt_update() returns trigger language plpgsql as $$
begin
  if (new.id, new.transaction_id, new.network, new.tx_hash, new.raw, new.fee_units) is distinct from
    (old.id, old.transaction_id, old.network, old.tx_hash, old.raw, old.fee_units) then
    raise exception 'immutable column' using errcode = '23514';
  end if;
  return new;
end $$;
create trigger attempt_update before update on attempts for each row execute function check_attempt_update();
create trigger attempts_stay before delete on attempts for each row execute function forbid_change();

-- A deposit is what came in; only where it stands and how it counts may change (I-5).
create function check_deposit_update() returns trigger language plpgsql as $$
begin
  if (new.id, new.network, new.identity, new.tx_hash, new.address, new.memo, new.units) is distinct from
    (old.id, old.network, old.identity, old.tx_hash, old.address, old.memo, old.units)
    or new.exchange_id is distinct from old.exchange_id or new.asset_id is distinct from old.asset_id or new.credits < old.credits then
    raise exception 'immutable column' using errcode = '23514';
  end if;
  return new;
end $$;
create trigger deposit_update before update on deposits for each row execute function check_deposit_update();
create trigger deposits_stay before delete on deposits for each row execute function forbid_change();

-- A destination serves one exchange, for ever (I-19).
create trigger deposit_targets_stay before update or delete on deposit_targets for each row execute function forbid_change();

create index coins_unspent on coins (network) where spent_by is null;
create index transactions_live on transactions (network, wallet) where state = 'live';
create index outflows_by_age on outflows (at);
create index alarms_by_age on alarms (raised_at desc);
