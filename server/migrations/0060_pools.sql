-- The pools of each network as the router last had them, for a quick start: never a source of amounts, which are read from the chain.
create table pool_snapshots (
  network text primary key,
  block_height bigint not null check (block_height >= 0),
  block_hash text not null,
  packed bytea not null,
  saved_at timestamptz not null default clock_timestamp()
);
