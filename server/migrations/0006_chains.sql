-- What the chain watchers record: blocks, our own addresses and our UTXOs.

-- The most recent block hashes of each network, to find where a reorg began (I-6).
create table blocks (
  network text not null,
  height bigint not null,
  hash text not null,
  parent_hash text not null,
  seen_at timestamptz not null default clock_timestamp(),
  primary key (network, height)
);

-- The last block that was recorded. The row is locked to append or roll back a block, so two watchers of one network do
-- no harm (I-27).
create table cursors (
  network text primary key,
  height bigint not null,
  hash text not null,
  scanned_at timestamptz not null default clock_timestamp(),
  -- The watcher has recorded every block that existed at this time. An exchange does not expire before, because its deposit
  -- may be in a block that is not recorded yet.
  caught_up_at timestamptz
);

-- Ranges of recorded blocks that the operator has read again, from every node, for deposits that were missed.
create table rescans (
  id bigint generated always as identity primary key,
  network text not null,
  next_height bigint not null check (next_height >= 0),
  to_height bigint not null,
  -- Deposits that were found.
  found int not null default 0,
  -- In a row, with the last reason.
  failures int not null default 0,
  failure text,
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  check (next_height <= to_height + 1)
);
create unique index one_open_rescan_per_network on rescans (network) where ended_at is null;

-- Our own addresses other than deposit addresses: hot wallets and bitcoin change. A payment to one is funding by the
-- operator, or change.
create table house_addresses (
  network text not null,
  address text not null,
  branch text not null check (branch in ('hot', 'change')),
  key_index bigint not null,
  primary key (network, address),
  unique (network, branch, key_index)
);
-- Every create asks whether an address is ours on any network: networks of one family share their addresses.
create index own_addresses_by_address on house_addresses using hash (address);
create unique index one_hot_address_per_network on house_addresses (network) where branch = 'hot';

-- Derivation indexes of change addresses, shared by all networks and never used twice.
create sequence change_key_index as bigint minvalue 0 start 0;

-- Transfers of unlisted tokens to our addresses, summed: a block may contain tens of thousands, which cost their sender a
-- few dollars. They are never credited.
create table strays (
  network text not null,
  contract text not null,
  address text not null,
  -- As the contract states them. A reorganisation counts a transfer again.
  transfers bigint not null,
  units numeric not null,
  last_tx_hash text not null,
  last_height bigint not null,
  primary key (network, contract, address)
);

-- UTXOs of the bitcoin family at our addresses.
create table coins (
  network text not null,
  outpoint text not null,
  address text not null,
  branch text not null check (branch in ('deposit', 'hot', 'change')),
  key_index bigint not null,
  units units not null,
  -- Null = in no block now.
  block_height bigint,
  block_hash text,
  -- The height of the chain when a reorg removed the block; null = not removed, or included again.
  gone_at bigint,
  -- The outpoints that its transaction spent. Once a final transaction spends one of them elsewhere, this UTXO can never
  -- exist again.
  made_from text[] not null default '{}',
  -- A deposit's UTXO is spent only after the deposit is credited.
  deposit_id bigint references deposits,
  -- Our transaction that spends it.
  reserved_by uuid references transactions,
  -- The hash of the transaction that spent it on the chain, ours or not.
  spent_by text,
  spent_height bigint,
  -- A transaction that spent it could never be valid, so no other spends it until the operator decides (M8).
  quarantined boolean not null default false,
  primary key (network, outpoint)
);
create index utxos_free on coins (network, block_height) where reserved_by is null and spent_by is null;
-- Largest first: dust that others send cannot crowd out the useful UTXOs.
create index utxos_by_units on coins (network, units desc, block_height, outpoint) where reserved_by is null and spent_by is null;
create index utxos_unspent on coins (network) where spent_by is null;
create index utxos_by_height on coins (network, block_height);
create index utxos_by_spend on coins (network, spent_height);

-- As in 0002_exchanges.sql.
alter table coins set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);
-- A row per network, updated by each block.
alter table cursors set (fillfactor = 50);
