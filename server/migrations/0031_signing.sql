-- What the signers' journals are compared with (reliability 3.5): a restored database is older than what left the house.

-- The lives of this database: a new one begins with each release of a hold. Journals hold the last one that they saw.
create table signing_epochs (
  id bigint primary key generated always as identity,
  epoch uuid not null unique default gen_random_uuid(),
  system_identifier text not null,
  timeline text not null,
  begun_at timestamptz not null default clock_timestamp()
);
create trigger signing_epochs_append_only before update or delete on signing_epochs for each row execute function forbid_change();

-- Lives that a journal knows and this database does not.
create table forgotten_epochs (
  epoch uuid primary key,
  noticed_at timestamptz not null default clock_timestamp(),
  acknowledged_at timestamptz
);

-- What a journal let out and this database does not have.
create table forgotten_payouts (
  network text not null,
  tx_hash text not null,
  payout_id text not null,
  asset_id text not null,
  address text not null,
  memo text not null default '',
  units units not null,
  released_at timestamptz not null,
  noticed_at timestamptz not null default clock_timestamp(),
  acknowledged_at timestamptz,
  matched_payout uuid,
  primary key (network, tx_hash, payout_id)
);
create index forgotten_payouts_by_destination on forgotten_payouts (asset_id, address);

-- Its transaction in full, from the journal, so that it can be taken into the database again.
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
