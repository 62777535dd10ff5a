-- After a reorganisation the same transaction may run differently (EVM): a transfer can bring other units, and stand at
-- another place in its transaction.
alter table deposits
  -- Its identity on the chain now, if a reorganisation has changed it; null = `identity`, from which payout ids are derived.
  add column chain_identity text,
  -- A credited deposit is in a block again with other units. It takes both when its credit is reversed.
  add column returned_units units check (returned_units > 0),
  add column returned_height bigint,
  add column returned_hash text,
  add constraint deposits_returned_whole
    check ((returned_height is null) = (returned_units is null) and (returned_height is null) = (returned_hash is null)),
  add constraint deposits_returned_credited
    check (returned_height is null or (status = 'credited' and block_height is null));
create index deposits_returned on deposits (network, returned_height) where returned_height is not null;

-- A deposit of a later leg is our own payment: while it is in no block, a replacement of that payment may change its
-- transaction hash and identity. The units of a deposit may change while it is in no block and not credited.
create or replace function check_deposit_update() returns trigger language plpgsql as $$
begin
  if (new.id, new.network, new.address, new.memo) is distinct from (old.id, old.network, old.address, old.memo)
    or (new.units is distinct from old.units and (old.block_height is not null or new.status = 'credited'))
    or (new.chain_identity is distinct from old.chain_identity and old.block_height is not null)
    or ((new.identity, new.tx_hash) is distinct from (old.identity, old.tx_hash)
      and (coalesce(old.leg, 0) = 0 or old.block_height is not null))
    or new.exchange_id is distinct from old.exchange_id or new.asset_id is distinct from old.asset_id or new.credits < old.credits then
    raise exception 'immutable column of table % was changed', tg_table_name using errcode = '23514';
  end if;
  return new;
end $$;
