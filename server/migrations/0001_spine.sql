-- The spine: exchanges, what came in, what goes out, and the chains they move on.
-- Amounts are base units, numeric(78,0); times are the database's clock.

create domain units as numeric(78, 0) check (value >= 0);

-- Statuses and their edges: the table of docs/lifecycle.md (decisions: "Cross-chain statuses").
create table status_edges (from_status text not null, to_status text not null, primary key (from_status, to_status));
insert into status_edges values
  ('pending', 'confirming'), ('pending', 'failed'),
  ('confirming', 'exchanging'), ('confirming', 'pending'), ('confirming', 'verifying'), ('confirming', 'refunding'), ('confirming', 'failed'),
  ('exchanging', 'pending'), ('exchanging', 'verifying'), ('exchanging', 'refunding'), ('exchanging', 'sending'),
  ('sending', 'verifying'), ('sending', 'finished'),
  ('refunding', 'verifying'), ('refunding', 'failed'), ('refunding', 'refunded'),
  ('verifying', 'exchanging'), ('verifying', 'sending'), ('verifying', 'refunding'), ('verifying', 'failed'),
  ('failed', 'refunding');

create table exchanges (
  id uuid primary key,
  partner_id uuid not null,
  type text not null check (type in ('standard', 'private')),
  flow text not null check (flow in ('standard', 'fixed-rate')),
  from_currency text not null,
  from_network text not null,
  to_currency text not null,
  to_network text not null,
  legs jsonb not null,
  from_units units not null check (from_units > 0),
  to_units units not null check (to_units > 0),
  recipient_address text,
  recipient_memo text,
  refund_address text,
  refund_memo text,
  partner_fee_bps int not null check (partner_fee_bps between 0 and 10000),
  rate_nonce text unique,
  status text not null default 'pending',
  reason text,
  version int not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  fixed_until timestamptz,
  next_check_at timestamptz,
  check ((flow = 'fixed-rate') = (fixed_until is not null))
);
create index exchanges_of_partner on exchanges (partner_id, created_at desc, id desc);
create index exchanges_open on exchanges (partner_id) where status not in ('finished', 'failed', 'refunded');
create index exchanges_due on exchanges (next_check_at) where next_check_at is not null;

-- Where a leg's deposit arrives. A destination serves one exchange, for ever.
create table deposit_targets (
  exchange_id uuid not null references exchanges,
  leg int not null,
  network text not null,
  address text not null,
  memo text not null default '',
  key_index bigint not null,
  primary key (exchange_id, leg),
  unique (network, address, memo)
);
create sequence deposit_key_index as bigint minvalue 0 start 0 increment 1;

-- The house's own addresses: hot wallets and change.
create table house_addresses (
  network text not null,
  address text not null,
  branch text not null check (branch in ('hot', 'change')),
  key_index bigint not null,
  primary key (network, address),
  unique (network, branch, key_index)
);

-- What the watchers know of each chain: a ring of hashes, and how far they are.
create table blocks (
  network text not null,
  height bigint not null,
  hash text not null,
  parent_hash text not null,
  seen_at timestamptz not null default clock_timestamp(),
  primary key (network, height)
);
create table cursors (network text primary key, height bigint not null, hash text not null, scanned_at timestamptz not null default clock_timestamp());

-- Unconfirmed transactions that seem to pay us: a hint for the status and the fixed rate's clock, never money.
create table sightings (
  network text not null,
  tx_hash text not null,
  exchange_id uuid not null references exchanges,
  first_seen_at timestamptz not null default clock_timestamp(),
  last_seen_at timestamptz not null default clock_timestamp(),
  gone_at timestamptz,
  primary key (network, tx_hash, exchange_id)
);
create index sightings_of_exchange on sightings (exchange_id);
create index sightings_live on sightings (last_seen_at) where gone_at is null;

-- One row a transfer that reached an address of ours in a block (reliability 2.2: identity). exchange_id null = operator's funding.
create table deposits (
  id bigint primary key generated always as identity,
  network text not null,
  identity text not null,
  tx_hash text not null,
  exchange_id uuid references exchanges,
  leg int,
  address text not null,
  memo text not null default '',
  key_index bigint,
  asset_id text,
  contract text,
  units units not null check (units > 0),
  sender text,
  block_height bigint,
  block_hash text,
  orphaned_at timestamptz,
  first_seen_at timestamptz not null default clock_timestamp(),
  required_confirmations int not null check (required_confirmations > 0),
  status text not null default 'seen' check (status in ('seen', 'credited', 'reversed', 'rejected')),
  credited_units units,
  -- Each credit is one journal entry and each reversal one more: credited exactly as often as reversed, plus one while it counts.
  credits int not null default 0,
  lost boolean not null default false,
  swept_by uuid,
  unique (network, identity),
  check ((status = 'credited') = (credited_units is not null)),
  check ((block_height is null) = (block_hash is null))
);
create index deposits_of_exchange on deposits (exchange_id);
create index deposits_by_height on deposits (network, block_height);
create index deposits_to_sweep on deposits (network, address) where status = 'credited' and swept_by is null;
create index deposits_waiting on deposits (network, block_height) where status = 'seen';

-- What becomes of one deposit (standard) or one leg (private): an item of the API's `exchanges`.
create table executions (
  id uuid primary key,
  exchange_id uuid not null references exchanges,
  deposit_id bigint not null unique references deposits,
  leg int not null,
  status text not null default 'confirming',
  reason text,
  decision text check (decision in ('release', 'refund', 'fail')),
  received_units units,
  due_units units,
  rate_kind text check (rate_kind in ('fixed', 'floating', 'mixed', 'worse')),
  order_id text unique,
  sent_units units,
  payin_hash text not null,
  payout_hash text,
  version int not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create index executions_of_exchange on executions (exchange_id);

create function check_status_edge() returns trigger language plpgsql as $$
begin
  if new.status <> old.status and not exists (select 1 from status_edges where from_status = old.status and to_status = new.status) then
    raise exception 'illegal status edge % -> %', old.status, new.status using errcode = '23514';
  end if;
  if new.id <> old.id or new.exchange_id <> old.exchange_id or new.deposit_id <> old.deposit_id then
    raise exception 'immutable column' using errcode = '23514';
  end if;
  new.version := old.version + 1;
  new.updated_at := clock_timestamp();
  return new;
end $$;
create trigger execution_status before update on executions for each row execute function check_status_edge();

-- An exchange shows its latest open execution, so it may go back while a later deposit is open; terminals are final
-- but for a late deposit that is refunded.
create function check_exchange_update() returns trigger language plpgsql as $$
begin
  if new.status <> old.status and (old.status in ('finished', 'refunded') or (old.status = 'failed' and new.status <> 'refunding')) then
    raise exception 'illegal status edge % -> %', old.status, new.status using errcode = '23514';
  end if;
  if new.id <> old.id or new.partner_id <> old.partner_id or new.created_at <> old.created_at or new.from_units <> old.from_units
    or new.to_units <> old.to_units or new.recipient_address is distinct from old.recipient_address then
    raise exception 'immutable column' using errcode = '23514';
  end if;
  new.version := old.version + 1;
  return new;
end $$;
create trigger exchange_update before update on exchanges for each row execute function check_exchange_update();

-- What happened to an exchange, in order. Append-only.
create table events (
  id bigint primary key generated always as identity,
  exchange_id uuid not null references exchanges,
  execution_id uuid references executions,
  at timestamptz not null default clock_timestamp(),
  event text not null,
  status text,
  reason text,
  detail jsonb not null default '{}'
);
create index events_of_exchange on events (exchange_id, id);

create table idempotency_keys (
  partner_id uuid not null,
  key text not null check (length(key) between 1 and 255),
  request_hash text not null,
  exchange_id uuid not null references exchanges deferrable initially deferred,
  created_at timestamptz not null default clock_timestamp(),
  primary key (partner_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
