-- What was final leaves the chain after all: a reorganisation deeper than finality, or nodes that lied. The same bytes are
-- offered again; with a proof of death the payout waits for a person, who may have it paid again (docs/decisions/0069).
create or replace function check_transaction_update() returns trigger language plpgsql as $$
begin
  if new.state <> old.state and (old.state, new.state) not in (
    ('live', 'confirmed'), ('live', 'expired'), ('confirmed', 'final'), ('final', 'confirmed'), ('confirmed', 'expired')) then
    raise exception 'illegal transaction edge % -> %', old.state, new.state using errcode = '23514';
  end if;
  if (new.id, new.network, new.wallet, new.conflict_key, new.resources) is distinct from (old.id, old.network, old.wallet, old.conflict_key, old.resources) then
    raise exception 'immutable column' using errcode = '23514';
  end if;
  return new;
end $$;

-- `lost`: its exchange is closed, and what it paid is owed beside it. `vanished_reason`: what its execution's reason was.
alter table payouts
  add column lost boolean not null default false,
  add column vanished_reason text;

create or replace function check_payout_update() returns trigger language plpgsql as $$
begin
  if new.state <> old.state and (old.state, new.state) not in
    (('reserved', 'signed'), ('reserved', 'void'), ('signed', 'confirmed'), ('signed', 'reserved'), ('confirmed', 'reserved')) then
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

-- What is promised stands beside what the exchange is owed. A lost payout is owed by another account.
drop trigger payout_promised on payouts;
create trigger payout_promised after update of state on payouts for each row
  when (old.execution_id is not null and not old.lost and old.state in ('reserved', 'signed') and new.state in ('confirmed', 'void'))
  execute function release_promised();
create function promise_again() returns trigger language plpgsql as $$
begin
  update balances set promised = promised + new.units
    where account = 'liability:exchange:' || new.exchange_id and asset_id = new.asset_id;
  return null;
end $$;
create trigger payout_promised_again after update of state on payouts for each row
  when (new.execution_id is not null and not new.lost and old.state = 'confirmed' and new.state = 'reserved')
  execute function promise_again();

-- The largest coins first, however many small ones somebody sends.
create index coins_by_units on coins (network, units desc, block_height, outpoint) where reserved_by is null and spent_by is null;

-- Coins that left the chain, and the height that it had then: a payment that spends one is signed anew without it where it
-- keeps a coin that all its attempts spend. `fundings`: bytes of others that a person brought, offered with ours.
alter table coins add column gone_at bigint;
update coins c set gone_at = k.height from cursors k where k.network = c.network and c.block_height is null;
alter table transactions add column fundings text[] not null default '{}';
