-- Swaps on one network, signed by the user: tracking, the referrer fees of partners, and what the API stores for them.

-- Swaps that partners sent, and swaps with a fee for us that were found on the chain; one row per network and hash
-- (I-29). Their status follows from the chain until the block is final (docs/lifecycle.md, "Swaps").
create table swaps (
  id uuid primary key,
  partner_id uuid not null,
  network text not null,
  hash text not null,
  status text not null default 'pending' check (status in ('pending', 'confirming', 'finished', 'failed')),
  reason text check (reason in ('rejected', 'reverted', 'dropped', 'replaced', 'expired')),
  -- False = found by its event and not reported by the partner: no list shows it until the partner reports it.
  told boolean not null default true,
  token_in text not null,
  decimals_in int not null check (decimals_in between 0 and 255),
  units_in units not null check (units_in > 0),
  token_out text not null,
  decimals_out int not null check (decimals_out between 0 and 255),
  expected_units units not null,
  -- The transaction fails below this output.
  min_units units not null check (min_units > 0),
  -- The output by the receipt.
  received_units units,
  sender text not null,
  -- Null in network families without nonces.
  nonce bigint check (nonce >= 0),
  recipient text not null,
  -- Referrer fee in millionths of the output, and the address that receives it; null without a fee.
  fee_ppm int not null check (fee_ppm between 0 and 1000000),
  fee_to text,
  -- The operator receives the fee and owes it to the partner.
  owes_fee boolean not null,
  -- What the ledger holds of the fee now; null = nothing. A reorg reverses it, so bookings are numbered.
  fee_asset text,
  fee_units units,
  fee_bookings int not null default 0 check (fee_bookings >= 0),
  -- After what no block can include the swap: Unix time in seconds, a block height or an epoch.
  expires_by text not null check (expires_by in ('time', 'height', 'epoch', 'never')),
  expires_at bigint,
  -- The signed transaction, until it need not be sent again.
  raw text,
  block_height bigint,
  block_hash text,
  -- Increased by every change that trackers decide on; they update with the version that they read.
  version int not null default 1,
  -- Milliseconds, as responses show it: lists continue after this value.
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  -- When a node last knew the transaction.
  seen_at timestamptz not null default clock_timestamp(),
  -- Null = final.
  next_check_at timestamptz default clock_timestamp(),
  unique (network, hash),
  check ((expires_by = 'never') = (expires_at is null)),
  check (fee_to is not null or fee_ppm = 0),
  check ((status = 'failed') = (reason is not null)),
  check ((block_height is null) = (block_hash is null)),
  -- A swap is finished only by a receipt with the output (I-29).
  check (status <> 'finished' or (block_hash is not null and received_units is not null and received_units >= min_units)),
  check ((fee_asset is null) = (fee_units is null)),
  check (fee_units is null or (owes_fee and fee_units > 0 and fee_bookings > 0 and status = 'finished'))
);
create index swaps_of_partner on swaps (partner_id, created_at desc, id desc);
-- A status request by hash names no network.
create index swaps_by_hash on swaps using hash (hash);
create index swaps_to_look_at on swaps (next_check_at) where next_check_at is not null;
create index swaps_with_fee on swaps (fee_asset) where fee_asset is not null;

-- `version` changes with what trackers decide on, `updated_at` with what partners see. A lease by the sweep changes
-- neither.
create function check_swap_update() returns trigger language plpgsql as $$
begin
  if (new.id, new.partner_id, new.network, new.hash, new.token_in, new.decimals_in, new.units_in, new.token_out, new.decimals_out,
      new.min_units, new.sender, new.nonce, new.recipient, new.fee_ppm, new.fee_to, new.owes_fee, new.expires_by, new.expires_at,
      new.created_at)
    is distinct from
     (old.id, old.partner_id, old.network, old.hash, old.token_in, old.decimals_in, old.units_in, old.token_out, old.decimals_out,
      old.min_units, old.sender, old.nonce, old.recipient, old.fee_ppm, old.fee_to, old.owes_fee, old.expires_by, old.expires_at,
      old.created_at) then
    raise exception 'immutable column of table % was changed', tg_table_name using errcode = '23514';
  end if;
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

-- The address that receives a partner's referrer fees on a network.
create table fee_addresses (
  partner_id uuid not null references partners,
  network text not null,
  address text not null,
  primary key (partner_id, network)
);

-- Up to which final block the events of a network's router were searched for fees of unreported swaps.
create table fee_searches (
  network text primary key,
  height bigint not null check (height >= 0),
  searched_at timestamptz not null default clock_timestamp()
);

-- Fees that a fee address of ours received from swaps that match no partner.
create table unclaimed_fees (
  network text not null,
  hash text not null,
  log_index int not null check (log_index >= 0),
  block_height bigint not null,
  -- The swap's reference.
  ref text not null,
  sender text not null,
  token text not null,
  units units not null check (units > 0),
  fee_to text not null,
  -- Null in network families without an executor contract.
  executor text,
  found_at timestamptz not null default clock_timestamp(),
  primary key (network, hash, log_index)
);

-- Stored responses of requests with an Idempotency-Key, deleted after 24 hours (I-21).
create table kept_answers (
  partner_id uuid not null,
  key text not null check (length(key) between 1 and 255),
  -- Hash of route and body: the same key with another body is rejected.
  request_hash text not null,
  answer text not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (partner_id, key)
);
create index stored_responses_by_age on kept_answers (created_at);

-- Approvals that were built together with swaps, for 24 hours. The API broadcasts no other approval.
create table built_approvals (
  partner_id uuid not null,
  network text not null,
  account text not null,
  token text not null,
  units units not null check (units > 0),
  built_at timestamptz not null default clock_timestamp(),
  primary key (partner_id, network, account, token, units)
);
create index built_approvals_by_age on built_approvals (built_at);

-- The pools of each network as the router last read them, for a quick start. Amounts are read from the chain again.
create table pool_snapshots (
  network text primary key,
  block_height bigint not null check (block_height >= 0),
  block_hash text not null,
  -- Compressed JSON.
  packed bytea not null,
  saved_at timestamptz not null default clock_timestamp()
);
