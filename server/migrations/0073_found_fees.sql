-- Fees of swaps that we were never told of are found by the router's events (decision 0067). A swap that is found so has a row
-- like those that were told, shown to nobody until its partner tells of it.
alter table swaps add column told boolean not null default true;

-- How far the events of a network's router were searched: every block up to this one.
create table fee_searches (
  network text primary key,
  height bigint not null check (height >= 0),
  searched_at timestamptz not null default clock_timestamp()
);

-- Fees that came, or may have come, to an address for fees, of swaps that nothing ties to a partner.
create table unclaimed_fees (
  network text not null,
  hash text not null,
  log_index int not null check (log_index >= 0),
  block_height bigint not null,
  ref text not null,
  sender text not null,
  token text not null,
  units units not null check (units > 0),
  fee_to text,
  found_at timestamptz not null default clock_timestamp(),
  primary key (network, hash, log_index)
);
