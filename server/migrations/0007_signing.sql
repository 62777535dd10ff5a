-- The comparison of this database with the signing journals. Each signer keeps a journal of what it released in a file
-- of its own; a database that was restored from a backup misses the newest releases, and must not pay them again.

-- Generations of this database. A new one begins when an operator releases the hold after a restore; journals record
-- the generation that they last saw. The last row is the current one. Append-only.
create table signing_epochs (
  id bigint primary key generated always as identity,
  epoch uuid not null unique default gen_random_uuid(),
  -- The cluster and WAL timeline in which it began: a difference means a restore or a failover.
  system_identifier text not null,
  timeline text not null,
  begun_at timestamptz not null default clock_timestamp()
);
create trigger signing_generations_append_only before update or delete on signing_epochs
  for each row execute function forbid_change();

-- How far each signer's journal has got: a journal behind it has lost records. A new generation forgets the rows.
create table signing_journals (
  id uuid primary key,
  segments int not null,
  -- Of the newest segment.
  bytes int not null
);

-- Generations that a journal has seen and this database does not have: it was restored to a time before them.
create table forgotten_epochs (
  epoch uuid primary key,
  noticed_at timestamptz not null default clock_timestamp(),
  acknowledged_at timestamptz
);

-- Payouts that a journal released and this database does not have. Nothing is signed until an operator acknowledges
-- each row.
create table forgotten_payouts (
  network text not null,
  tx_hash text not null,
  payout_id text not null,
  asset_id text not null,
  address text not null,
  memo text not null default '',
  units units not null,
  -- By the signer's clock.
  released_at timestamptz not null,
  noticed_at timestamptz not null default clock_timestamp(),
  acknowledged_at timestamptz,
  -- The payout of this database that was set aside because it would pay the same again.
  matched_payout uuid,
  primary key (network, tx_hash, payout_id)
);
create index forgotten_payouts_by_destination on forgotten_payouts (asset_id, address);
create index forgotten_payouts_by_transaction on forgotten_payouts (tx_hash);

-- The transactions of those payouts in full, for `swapyard signer import`.
create table forgotten_transactions (
  network text not null,
  tx_hash text not null,
  raw text not null,
  intent jsonb not null,
  fee_units units not null,
  conflict_key text not null,
  wallet text not null,
  branch text not null check (branch in ('deposit', 'hot', 'change')),
  key_index bigint not null,
  imported_at timestamptz,
  primary key (network, tx_hash)
);
