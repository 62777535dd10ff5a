-- Exchanges: the order, the addresses where its deposits arrive, the deposits, and what becomes of each of them.

-- Allowed status changes of an execution (I-17). The same edges are in `lifecycle.ts` and in `docs/lifecycle.md`; a test
-- compares the three.
create table status_edges (from_status text not null, to_status text not null, primary key (from_status, to_status));
insert into status_edges values
  ('pending', 'confirming'), ('pending', 'failed'),
  ('confirming', 'exchanging'), ('confirming', 'pending'), ('confirming', 'verifying'), ('confirming', 'refunding'), ('confirming', 'failed'),
  ('exchanging', 'pending'), ('exchanging', 'verifying'), ('exchanging', 'refunding'), ('exchanging', 'sending'),
  ('sending', 'verifying'), ('sending', 'finished'),
  ('refunding', 'verifying'), ('refunding', 'failed'), ('refunding', 'refunded'),
  ('verifying', 'exchanging'), ('verifying', 'sending'), ('verifying', 'refunding'), ('verifying', 'failed'),
  ('failed', 'refunding');

-- An order: give one asset, receive another. Its terms never change; what really arrives is in `executions`.
create table exchanges (
  id uuid primary key,
  partner_id uuid not null,
  type text not null check (type in ('standard', 'private')),
  flow text not null check (flow in ('standard', 'fixed-rate')),
  from_currency text not null,
  from_network text not null,
  to_currency text not null,
  to_network text not null,
  -- The assets of each conversion in order: one leg for standard, two for private (I-31).
  legs jsonb not null,
  -- Of a private exchange: its delays, the share of the intermediary amount that is withheld, and the intermediaries
  -- that were considered. Drawn at the create, so that nothing depends on later events (docs/private-exchanges.md).
  plan jsonb,
  from_units units not null check (from_units > 0),
  to_units units not null check (to_units > 0),
  -- The maximum of the quote at the create: a deposit within it waits for the reserve before it is refunded. Null = none.
  max_units units,
  -- What the create stated about its deposit: the confirmations that it needs, and the seconds until the payout. A repeat of
  -- the create states the same, whatever the prices are then.
  estimate jsonb,
  -- Null = the proceeds are credited to the partner's balance.
  recipient_address text,
  recipient_memo text,
  refund_address text,
  refund_memo text,
  -- Authentication codes of both, with a key that is not in the database: without them nothing is paid there (I-39).
  recipient_mac text,
  refund_mac text,
  partner_fee_bps int not null check (partner_fee_bps between 0 and 10000),
  -- Makes a rateId single-use (I-18).
  rate_nonce text unique,
  -- Derived from the executions; what partners see.
  status text not null default 'pending',
  reason text,
  version int not null default 0,
  -- A step processes the executions in batches and continues after this deposit; null = from the first.
  stepped_to bigint,
  -- The transaction that last changed a field that the status response shows; null = none since the create.
  changed_by xid8,
  -- Milliseconds, as responses show it: lists continue after this value, and a finer one would skip rows.
  created_at timestamptz(3) not null default clock_timestamp(),
  -- A deposit that arrives later is refunded.
  expires_at timestamptz not null,
  -- A deposit must be first seen by then to get the fixed rate.
  fixed_until timestamptz,
  -- Milliseconds within which a payment that was first seen in the mempool must be in a block to keep the fixed rate.
  fixed_inclusion_ms bigint,
  check ((flow = 'fixed-rate') = (fixed_until is not null)),
  check ((fixed_until is null) = (fixed_inclusion_ms is null))
);
create index exchanges_of_partner on exchanges (partner_id, created_at desc, id desc);
create index exchanges_open on exchanges (partner_id) include (status) where status not in ('finished', 'failed', 'refunded');
-- The reconciler reads these every minute.
create index exchanges_watched on exchanges (from_network, id) where status not in ('finished', 'failed', 'refunded');
create index exchanges_changed on exchanges (changed_by) where changed_by is not null;

-- `finished` and `refunded` are final; `failed` may only become `refunding`, for a late deposit (I-17). Other statuses
-- may go back, because an exchange shows its latest open execution; `exchange_status` below compares the two.
create function check_exchange_update() returns trigger language plpgsql as $$
begin
  if new.status <> old.status and (old.status in ('finished', 'refunded') or (old.status = 'failed' and new.status <> 'refunding')) then
    raise exception 'illegal status edge % -> %', old.status, new.status using errcode = '23514';
  end if;
  if new.id <> old.id or new.partner_id <> old.partner_id or new.created_at <> old.created_at or new.from_units <> old.from_units
    or new.to_units <> old.to_units or new.recipient_address is distinct from old.recipient_address then
    raise exception 'immutable column of table % was changed', tg_table_name using errcode = '23514';
  end if;
  new.version := old.version + 1;
  return new;
end $$;
create trigger exchange_update before update on exchanges for each row execute function check_exchange_update();

create function check_plan_stays() returns trigger language plpgsql as $$
begin
  raise exception 'immutable column of table % was changed', tg_table_name using errcode = '23514';
end $$;
create trigger exchange_plan_stays before update of plan, legs on exchanges for each row
  when (new.plan is distinct from old.plan or new.legs is distinct from old.legs) execute function check_plan_stays();

-- Only columns that the status response shows: scheduling must not invalidate cached responses.
create trigger exchange_changed before update of status, reason, refund_address, refund_memo, expires_at, fixed_until
  on exchanges for each row execute function note_change();

-- When the sweep runs the next step of an exchange at the latest (I-16); no row = closed. Written every 15 seconds for each
-- open exchange: in `exchanges` each write would add an entry to every index of the wide table.
create table exchange_checks (
  exchange_id uuid primary key references exchanges,
  next_check_at timestamptz not null
) with (fillfactor = 70);
create index exchange_checks_due on exchange_checks (next_check_at);

-- Idempotency keys of creates (I-21), deleted after 24 hours. Written in the transaction of the create; the foreign key
-- is deferred because the key is inserted before the exchange.
create table idempotency_keys (
  partner_id uuid not null,
  key text not null check (length(key) between 1 and 255),
  -- Hash of route and body: the same key with another body is rejected.
  request_hash text not null,
  exchange_id uuid not null references exchanges deferrable initially deferred,
  created_at timestamptz not null default clock_timestamp(),
  primary key (partner_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- Transfers to our addresses that were found in a block, one row each. What arrived never changes (I-5); its block and
-- how we account for it do.
create table deposits (
  id bigint primary key generated always as identity,
  network text not null,
  -- Unique on the network for ever: `txid:vout`, `txHash`, `txHash:contract:n`, or a Monero output key (I-5).
  identity text not null,
  tx_hash text not null,
  -- Null = not to an exchange's address: funding by the operator, or unclaimed.
  exchange_id uuid references exchanges,
  leg int,
  address text not null,
  memo text not null default '',
  key_index bigint,
  -- Null = an asset that is not in the catalogue; it is never credited.
  asset_id text,
  -- The token's contract; null = the native coin.
  contract text,
  -- What the chain states. What was really received is `credited_units`.
  units units not null check (units > 0),
  -- A possible refund address, if the chain identifies the sender reliably.
  sender text,
  -- Authentication code of the sender, made when the watcher recorded it (I-39).
  sender_mac text,
  -- Null = in no block now, after a reorg.
  block_height bigint,
  block_hash text,
  orphaned_at timestamptz,
  -- In the block, or earlier in the mempool if that sighting stops the clock of a fixed rate.
  first_seen_at timestamptz not null default clock_timestamp(),
  -- The time of its first block, or when the watcher recorded that block, whichever was earlier.
  included_at timestamptz not null default clock_timestamp(),
  -- Set by the value of the deposit when it is recorded (I-4).
  required_confirmations int not null check (required_confirmations > 0),
  -- Above the network's value tiers the deposit also waits for the chain's own finality tag.
  required_tag text check (required_tag in ('safe', 'finalized')),
  -- Arrived at a shared address with a memo that no exchange has. An operator assigns or returns it.
  unclaimed boolean not null default false,
  status text not null default 'seen' check (status in ('seen', 'credited', 'reversed', 'rejected')),
  credited_units units,
  -- How often it was credited. Each credit and each reversal (I-6) has a journal entry whose id contains this number, so
  -- none is posted twice: as many reversals as credits, or one fewer while the deposit is credited.
  credits int not null default 0,
  -- It left the chain after its payout was signed; the loss is booked to `expense:suspense` (I-6).
  lost boolean not null default false,
  -- The payout that moves it to the hot wallet.
  swept_by uuid,
  -- The transaction that last changed its block; null = none since it was recorded.
  changed_by xid8,
  unique (network, identity),
  check ((status = 'credited') = (credited_units is not null)),
  check ((block_height is null) = (block_hash is null))
);
-- Anyone can send any number of deposits to an address, so each question about one exchange has an index of its own and
-- never reads all deposits of the exchange.
create index deposits_of_exchange on deposits (exchange_id);
-- The first deposit of an asset.
create index deposits_in_order on deposits (exchange_id, leg, asset_id, id) where block_height is not null and status <> 'rejected';
-- Deposits whose accounting disagrees with the chain, which a closed execution may still have to repair: credited but
-- not on the chain; lost but on the chain; on the chain but not credited.
create index deposits_to_repair on deposits (exchange_id, leg, id)
  where (block_height is null and status = 'credited') or (block_height is not null and (lost or status in ('seen', 'reversed')));
-- When the first transfer of a transaction was seen.
create index deposits_of_transaction on deposits (network, tx_hash, exchange_id, first_seen_at);
create index deposits_by_height on deposits (network, block_height);
create index deposits_waiting on deposits (network, block_height) where status = 'seen';
-- The largest deposits of a sweep candidate.
create index deposits_to_sweep on deposits (network, address, asset_id, credited_units desc, id)
  where status = 'credited' and swept_by is null and exchange_id is not null;
create index deposits_swept on deposits (swept_by) where swept_by is not null;
create index deposits_changed on deposits (changed_by) where changed_by is not null and exchange_id is not null;
create index deposits_unclaimed on deposits (network, id) where unclaimed;
create index fundings_off_chain on deposits (network, id) where exchange_id is null and status = 'credited' and block_height is null;

-- A deposit of a later leg is our own payment: while it is in no block, a replacement of that payment may change its
-- transaction hash and identity.
create function check_deposit_update() returns trigger language plpgsql as $$
begin
  if (new.id, new.network, new.address, new.memo, new.units) is distinct from (old.id, old.network, old.address, old.memo, old.units)
    or ((new.identity, new.tx_hash) is distinct from (old.identity, old.tx_hash)
      and (coalesce(old.leg, 0) = 0 or old.block_height is not null))
    or new.exchange_id is distinct from old.exchange_id or new.asset_id is distinct from old.asset_id or new.credits < old.credits then
    raise exception 'immutable column of table % was changed', tg_table_name using errcode = '23514';
  end if;
  return new;
end $$;
create trigger deposit_update before update on deposits for each row execute function check_deposit_update();
-- Status responses show the confirmations.
create trigger deposit_changed before update of block_height on deposits for each row
  when (new.block_height is distinct from old.block_height) execute function note_change();
create trigger deposits_stay before delete on deposits for each row execute function forbid_change();

alter table exchanges add foreign key (stepped_to) references deposits;

-- Deposit addresses with credited deposits that no sweep has taken, one row per asset. A run reads the rows that are due and
-- never all deposits: those that are not worth a sweep stay for years, and anyone can add more.
create table sweep_candidates (
  network text not null,
  address text not null,
  asset_id text not null,
  key_index bigint not null,
  -- Due when this block is final, where `postponed_until` is null.
  height bigint not null,
  -- Block of the newest of its deposits.
  last_height bigint not null,
  -- A run found nothing to sweep, or must look again: due at this time.
  postponed_until timestamptz,
  -- When its newest deposit was credited.
  credited_at timestamptz not null default clock_timestamp(),
  -- Counts the deposits, so that a run does not postpone or delete what it has not seen.
  version bigint not null default 0,
  primary key (network, address, asset_id)
) with (fillfactor = 70);
create index sweep_candidates_new on sweep_candidates (network, height) where postponed_until is null;
create index sweep_candidates_postponed on sweep_candidates (network, postponed_until) where postponed_until is not null;

-- A new deposit ends a long postponement, and never delays a short one. Networks that spend UTXOs where they lie have rows, too,
-- which no run reads: to look for each UTXO here would cost more.
create function add_sweep_candidates() returns trigger language plpgsql as $$
begin
  insert into sweep_candidates as c (network, address, asset_id, key_index, height, last_height)
  select d.network, d.address, d.asset_id, d.key_index, min(d.block_height), max(d.block_height) from changed d
  where d.status = 'credited' and d.swept_by is null and d.exchange_id is not null and d.block_height is not null
  group by d.network, d.address, d.asset_id, d.key_index order by d.network, d.address, d.asset_id
  on conflict (network, address, asset_id) do update set
    height = case when c.postponed_until is null then least(c.height, excluded.height) else excluded.height end,
    last_height = greatest(c.last_height, excluded.last_height),
    postponed_until = case when c.postponed_until < clock_timestamp() + interval '10 minutes' then c.postponed_until end,
    credited_at = clock_timestamp(),
    version = c.version + 1;
  return null;
end $$;
create trigger deposits_inserted_to_sweep after insert on deposits referencing new table as changed
  for each statement execute function add_sweep_candidates();
create trigger deposits_updated_to_sweep after update on deposits referencing new table as changed
  for each statement execute function add_sweep_candidates();

-- The processing of one deposit on one leg: an item of `exchanges` in the API's responses.
create table executions (
  id uuid primary key,
  exchange_id uuid not null references exchanges,
  deposit_id bigint not null unique references deposits,
  leg int not null,
  -- Of a later leg: the execution whose payout is this deposit.
  source_execution uuid references executions,
  status text not null default 'confirming',
  reason text,
  -- What an operator decided while it was on hold.
  decision text check (decision in ('release', 'refund', 'convert', 'fail')),
  -- Where a release resumes, and the reason to show then: a held refund stays a refund. Null = never on hold.
  release_status text check (release_status in ('exchanging', 'refunding')),
  release_reason text,
  received_units units,
  -- What the conversion owes the recipient.
  due_units units,
  rate_kind text check (rate_kind in ('fixed', 'floating', 'mixed', 'worse')),
  order_id text unique,
  -- When it was first found to lack the reserve; null = it does not wait for it.
  waits_since timestamptz,
  -- First leg of a private exchange: what its rate gave for the ordered amount. The price guard of the next leg compares it.
  ordered_units units,
  sent_units units,
  payin_hash text not null,
  payout_hash text,
  version int not null default 0,
  -- The transaction that last changed it.
  changed_by xid8 default pg_current_xact_id(),
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create index executions_in_order on executions (exchange_id, leg, deposit_id);
create index executions_by_status on executions (exchange_id, status, leg, deposit_id);
-- Which execution has the fixed rate. At most one row per leg, apart from reversed ones.
create index executions_at_a_rate on executions (exchange_id, leg) where rate_kind <> 'floating';
-- A payout funds the next leg once, whichever of its attempts confirms (I-31).
create unique index executions_by_source on executions (source_execution) where source_execution is not null;
-- Read twice a minute to find executions that do not progress (I-16).
create index executions_open on executions (status, updated_at) where status not in ('finished', 'failed', 'refunded');
create index executions_changed on executions (changed_by);

-- A status changes along `status_edges` only (I-17).
create function check_status_edge() returns trigger language plpgsql as $$
begin
  if new.status <> old.status and not exists (select 1 from status_edges where from_status = old.status and to_status = new.status) then
    raise exception 'illegal status edge % -> %', old.status, new.status using errcode = '23514';
  end if;
  if new.id <> old.id or new.exchange_id <> old.exchange_id or new.deposit_id <> old.deposit_id then
    raise exception 'immutable column of table % was changed', tg_table_name using errcode = '23514';
  end if;
  new.version := old.version + 1;
  new.updated_at := clock_timestamp();
  return new;
end $$;
create trigger execution_status before update on executions for each row execute function check_status_edge();
create trigger execution_changed before update on executions for each row execute function note_change();

-- The status of an exchange follows from its executions (I-17). An edge of the exchange can span several edges of an
-- execution, because a step saves the exchange once, so the trigger compares the new status with the executions and not with
-- `status_edges`. The step holds a lock on the exchange, and only steps change the status of an execution. A deposit may be
-- recorded at the same time, so an execution that is `confirming` forbids nothing. One index search per status, however
-- many executions the exchange has.
create function check_exchange_status() returns trigger language plpgsql as $$
declare
  present text[] := array(
    select s from unnest(array['confirming', 'exchanging', 'sending', 'refunding', 'verifying', 'finished', 'refunded']) s
    where exists (
      select 1 from executions x where x.exchange_id = new.id and x.status = s
        -- Only the last leg finishes the exchange.
        and (s <> 'finished' or x.leg = jsonb_array_length(new.legs) - 1)));
  -- A later leg is pending while our own payment to it is in no block: the exchange is open.
  has_pending_leg boolean := exists (
    select 1 from executions x where x.exchange_id = new.id and x.status = 'pending' and x.leg > 0);
  follows boolean;
begin
  follows := case new.status
    when 'pending' then has_pending_leg or not present && '{exchanging,sending,refunding,verifying,finished,refunded}'
    when 'confirming' then 'confirming' = any (present)
      or exists (select 1 from sightings s where s.exchange_id = new.id)
    when 'finished' then 'finished' = any (present) and not present && '{exchanging,sending,refunding,verifying}'
    when 'refunded' then 'refunded' = any (present) and not present && '{exchanging,sending,refunding,verifying,finished}'
    when 'failed' then not has_pending_leg and not present && '{exchanging,sending,refunding,verifying,finished,refunded}'
    else new.status = any (present)
  end;
  if not follows then
    raise exception 'exchange status % does not follow from its executions', new.status using errcode = '23514';
  end if;
  return new;
end $$;
create trigger exchange_status before update of status on exchanges for each row
  when (new.status <> old.status) execute function check_exchange_status();

-- The address where a leg's deposit arrives. A destination serves one exchange for ever (I-19): no row is changed or
-- deleted.
create table deposit_targets (
  exchange_id uuid not null references exchanges,
  -- 0 = paid by the customer; 1 = paid by our own payout of leg 0.
  leg int not null,
  -- Leg 0 has one address; a later leg has a fresh one for each payout that funds it, which is never shown.
  nth int not null default 0,
  network text not null,
  address text not null,
  memo text not null default '',
  key_index bigint not null,
  -- The execution whose payout arrives here; null = the customer's deposit.
  source_execution uuid references executions,
  primary key (exchange_id, leg, nth),
  check (nth = 0 or leg > 0),
  -- The address comes first: one index also answers whether an address is ours on any network.
  constraint deposit_targets_destination unique (address, network, memo)
);
create trigger deposit_targets_stay before update or delete on deposit_targets
  for each row execute function forbid_change();

-- Derivation indexes of deposit addresses, shared by all networks and never used twice.
create sequence deposit_key_index as bigint minvalue 0 start 0 increment 1;

-- Unconfirmed transactions that seem to pay an exchange. They set the status, and some stop the clock of a fixed rate; they
-- are never credited.
create table sightings (
  network text not null,
  tx_hash text not null,
  exchange_id uuid not null references exchanges,
  -- Units of each output to the exchange, and the outpoints that the transaction spends: a replacement that spends one of
  -- them and has one of these outputs continues this sighting.
  units numeric[] not null,
  spends text[] not null default '{}',
  -- Whether it counts for the fixed rate before it is in a block; null = a node has not been asked yet.
  stops_clock boolean,
  first_seen_at timestamptz not null default clock_timestamp(),
  last_seen_at timestamptz not null default clock_timestamp(),
  -- When no node had it any more, or a block included it; null = still unconfirmed.
  gone_at timestamptz,
  primary key (network, tx_hash, exchange_id)
);
create index sightings_of_exchange_live on sightings (exchange_id) where gone_at is null;
create index sightings_gone on sightings (gone_at) where gone_at is not null;
create index sightings_live on sightings (last_seen_at) where gone_at is null;
create index sightings_to_inspect on sightings (network, first_seen_at) where stops_clock is null and gone_at is null;
create index sightings_of_exchange_firm on sightings (exchange_id) where stops_clock;

-- The history of an exchange, in order. Append-only.
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
create trigger events_append_only before update or delete on events for each row execute function forbid_change();

-- By default autovacuum waits until a fifth of a table has changed. These tables keep every row and change the newest ones
-- again and again, so that their indexes of open rows would bloat for months.
alter table exchanges set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);
alter table executions set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);
alter table deposits set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);
alter table exchange_checks set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
alter table sweep_candidates set (autovacuum_vacuum_scale_factor = 0.01);
alter table sightings set (autovacuum_vacuum_scale_factor = 0.01);
alter table idempotency_keys set (autovacuum_vacuum_scale_factor = 0.05);
-- Append-only: rows are frozen soon after their insert, not all at once.
alter table deposit_targets set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table events set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
