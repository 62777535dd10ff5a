-- What goes out: payouts (why), transactions (one conflict key each), attempts (bytes). See reliability 3.4.

create table nonce_lanes (
  network text not null,
  address text not null,
  next bigint not null default 0,
  primary key (network, address)
);

create table transactions (
  id uuid primary key,
  network text not null,
  wallet text not null,
  branch text not null check (branch in ('deposit', 'hot', 'change')),
  key_index bigint not null,
  conflict_key text not null,
  resources text[] not null,
  state text not null default 'live' check (state in ('live', 'confirmed', 'final', 'expired')),
  proof jsonb,
  next_check_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  unique (id, conflict_key),
  check ((state = 'expired') = (proof is not null))
);
-- A nonce or an outpoint is the conflict key of one transaction, unless that one is provably dead (I-9, I-26).
create unique index one_live_transaction on transactions (network, conflict_key) where state <> 'expired';
create index transactions_due on transactions (next_check_at) where next_check_at is not null;

-- An attempt is one set of signed bytes, stored before any node sees it (I-11). A replacement carries the same conflict key (I-12).
create table attempts (
  id bigint primary key generated always as identity,
  transaction_id uuid not null,
  conflict_key text not null,
  network text not null,
  tx_hash text not null,
  raw text not null,
  intent jsonb not null,
  fee_units units not null,
  state text not null default 'signed' check (state in ('signed', 'replaced', 'confirmed')),
  block_height bigint,
  block_hash text,
  sent_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  unique (network, tx_hash),
  foreign key (transaction_id, conflict_key) references transactions (id, conflict_key)
);
create index attempts_of_transaction on attempts (transaction_id);
create unique index one_confirmed_attempt on attempts (transaction_id) where state = 'confirmed';
create index attempts_by_height on attempts (network, block_height);

create table payouts (
  id uuid primary key,
  exchange_id uuid references exchanges,
  execution_id uuid references executions,
  deposit_id bigint references deposits,
  leg int,
  purpose text not null check (purpose in ('payout', 'refund', 'sweep', 'gas', 'withdrawal')),
  network text not null,
  asset_id text not null,
  branch text not null default 'hot' check (branch in ('deposit', 'hot')),
  key_index bigint not null default 0,
  address text not null,
  memo text not null default '',
  units units not null check (units > 0),
  approved boolean not null default false,
  state text not null default 'reserved' check (state in ('reserved', 'signed', 'confirmed', 'void')),
  transaction_id uuid references transactions,
  held_until timestamptz,
  attention text,
  created_at timestamptz not null default clock_timestamp(),
  check ((purpose in ('payout', 'refund')) = (execution_id is not null)),
  check ((state in ('signed', 'confirmed')) = (transaction_id is not null))
);
-- Payout or refund, never both, never two (I-8).
create unique index payout_or_refund on payouts (execution_id) where purpose in ('payout', 'refund') and state <> 'void';
create index payouts_queue on payouts (network, created_at) where state = 'reserved';
create index payouts_of_transaction on payouts (transaction_id);

-- Outputs of the bitcoin family at addresses of ours.
create table coins (
  network text not null,
  outpoint text not null,
  address text not null,
  branch text not null check (branch in ('deposit', 'hot', 'change')),
  key_index bigint not null,
  units units not null,
  block_height bigint,
  block_hash text,
  -- Deposits are spent only once credited; the deposit's own row says when.
  deposit_id bigint references deposits,
  reserved_by uuid references transactions,
  spent_by text,
  spent_height bigint,
  primary key (network, outpoint)
);
create index coins_free on coins (network, block_height) where reserved_by is null and spent_by is null;
create index coins_by_height on coins (network, block_height);
create index coins_by_spend on coins (network, spent_height);
create sequence change_key_index as bigint minvalue 0 start 0;

-- The inventory venue: what of each asset is promised, so that no two exchanges are promised the same coins.
create table inventory (asset_id text primary key, promised units not null default 0);
create table reservations (
  id text primary key,
  asset_id text not null references inventory,
  units units not null,
  exchange_id uuid not null references exchanges deferrable initially deferred,
  expires_at timestamptz,
  created_at timestamptz not null default clock_timestamp()
);
create index reservations_expiring on reservations (expires_at) where expires_at is not null;

-- Venue orders: the id exists before the venue is called (I-22).
create table orders (
  id text primary key,
  execution_id uuid not null references executions,
  venue text not null,
  give_asset text not null,
  give_units units not null,
  take_asset text not null,
  take_units units not null,
  state text not null default 'planned' check (state in ('planned', 'filled', 'rejected', 'unknown', 'cancelled')),
  created_at timestamptz not null default clock_timestamp()
);

-- What left, for the rolling limits (I-24); usd is scaled by 10^12.
create table outflows (
  payout_id uuid not null references payouts,
  scope text not null,
  usd units not null,
  at timestamptz not null default clock_timestamp(),
  primary key (payout_id, scope)
);
create index outflows_of_scope on outflows (scope, at);

create table pauses (
  scope text primary key,
  reason text not null,
  actor text not null,
  at timestamptz not null default clock_timestamp()
);

-- What an operator should look at. One open row per subject.
create table alarms (
  subject text primary key,
  alarm text not null,
  detail jsonb not null default '{}',
  raised_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp()
);
