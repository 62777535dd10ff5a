-- Swaps that partners sent to a chain: what is shown of them follows from what the chain says (lifecycle: "Swaps").

create table swaps (
  id uuid primary key,
  partner_id uuid not null,
  network text not null,
  hash text not null,
  status text not null default 'pending' check (status in ('pending', 'confirming', 'finished', 'failed')),
  reason text check (reason in ('rejected', 'reverted', 'dropped', 'replaced')),
  token_in text not null,
  decimals_in int not null check (decimals_in between 0 and 255),
  units_in units not null check (units_in > 0),
  token_out text not null,
  decimals_out int not null check (decimals_out between 0 and 255),
  expected_units units not null,
  min_units units not null check (min_units > 0),
  received_units units,
  sender text not null,
  nonce bigint not null check (nonce >= 0),
  recipient text not null,
  fee_ppm int not null check (fee_ppm between 0 and 1000000),
  fee_to text not null,
  owes_fee boolean not null,
  deadline bigint not null,
  raw text,
  block_height bigint,
  block_hash text,
  version int not null default 1,
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  seen_at timestamptz not null default clock_timestamp(),
  next_check_at timestamptz default clock_timestamp(),
  unique (network, hash),
  check ((status = 'failed') = (reason is not null)),
  check ((block_height is null) = (block_hash is null)),
  -- Only a receipt says that a swap is finished, and what it paid (I-29).
  check (status <> 'finished' or (block_hash is not null and received_units is not null and received_units >= min_units))
);
create index swaps_of_partner on swaps (partner_id, created_at desc, id desc);
create index swaps_to_look_at on swaps (next_check_at) where next_check_at is not null;

create function check_swap_update() returns trigger language plpgsql as $$
begin
  if (new.id, new.partner_id, new.network, new.hash, new.token_in, new.decimals_in, new.units_in, new.token_out, new.decimals_out,
      new.min_units, new.sender, new.nonce, new.recipient, new.fee_ppm, new.fee_to, new.owes_fee, new.deadline, new.created_at)
    is distinct from
     (old.id, old.partner_id, old.network, old.hash, old.token_in, old.decimals_in, old.units_in, old.token_out, old.decimals_out,
      old.min_units, old.sender, old.nonce, old.recipient, old.fee_ppm, old.fee_to, old.owes_fee, old.deadline, old.created_at) then
    raise exception 'immutable column' using errcode = '23514';
  end if;
  -- A lease of the sweeper changes nothing that anybody decides upon.
  if (new.status, new.reason, new.received_units, new.block_hash, new.raw, new.seen_at)
    is distinct from (old.status, old.reason, old.received_units, old.block_hash, old.raw, old.seen_at) then
    new.version := old.version + 1;
  end if;
  if (new.status, new.reason, new.received_units) is distinct from (old.status, old.reason, old.received_units) then
    new.updated_at := date_trunc('milliseconds', clock_timestamp());
  end if;
  return new;
end $$;
create trigger swap_update before update on swaps for each row execute function check_swap_update();
