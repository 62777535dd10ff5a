-- Outgoing payments: a payout is the reason, a transaction holds one conflict key, an attempt is one set of signed bytes.

-- The next nonce of each account (I-26). In every chain family the row is locked to sign for the wallet.
create table nonce_lanes (
  network text not null,
  address text not null,
  next bigint not null default 0,
  primary key (network, address)
);

-- What we have signed. All attempts of a transaction share its conflict key, so at most one of them can confirm.
create table transactions (
  id uuid primary key,
  network text not null,
  wallet text not null,
  branch text not null check (branch in ('deposit', 'hot', 'change')),
  key_index bigint not null,
  -- `address:nonce`, or the outpoint of the first input.
  conflict_key text not null,
  -- Everything that it uses: all outpoints, or the nonce.
  resources text[] not null,
  state text not null default 'live' check (state in ('live', 'confirmed', 'final', 'expired')),
  -- Why it can never confirm: evidence of a final conflicting transaction, or of its expiry (I-13).
  proof jsonb,
  -- Hash of a conflicting transaction that an operator named: where to look for a proof, not a proof.
  conflicting_tx_hash text,
  -- Raw transactions of third parties that an operator supplied. They fund its inputs and are broadcast with it.
  fundings text[] not null default '{}',
  -- Null = settled.
  next_check_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  unique (id, conflict_key),
  check ((state = 'expired') = (proof is not null)),
  -- The block in which it failed, the script that fails on every node, or the conflicting transaction of each attempt. An empty proof proves nothing.
  constraint transactions_proof check (proof is null
    or jsonb_path_exists(proof, '$.reverted ? (@.type() == "string" && @ != "")')
    or jsonb_path_exists(proof, '$.scriptFailed ? (@.type() == "string" && @ != "")')
    or (jsonb_path_exists(proof, '$.proof[*]')
      and not jsonb_path_exists(proof, '$.proof[*] ? (!(exists(@.txHash) && (exists(@.spentBy) || exists(@.conflictingTxHash))))')))
);
-- A nonce or outpoint belongs to one transaction until that one is proved to be invalid (I-9, I-26).
create unique index one_live_transaction on transactions (network, conflict_key) where state <> 'expired';
create index transactions_due on transactions (next_check_at) where next_check_at is not null;
create index transactions_live on transactions (network, wallet) where state = 'live';
-- Read twice a minute to find transactions that do not progress.
create index transactions_open on transactions (created_at) where state in ('live', 'confirmed');

-- `final` may become `confirmed` again, and `confirmed` may become `expired`: a reorg deeper than the required depth, or
-- nodes that reported a wrong chain.
create function check_transaction_update() returns trigger language plpgsql as $$
begin
  if new.state <> old.state and (old.state, new.state) not in (
    ('live', 'confirmed'), ('live', 'expired'), ('confirmed', 'final'), ('final', 'confirmed'), ('confirmed', 'expired')) then
    raise exception 'illegal transaction edge % -> %', old.state, new.state using errcode = '23514';
  end if;
  if (new.id, new.network, new.wallet, new.conflict_key, new.resources) is distinct from (old.id, old.network, old.wallet, old.conflict_key, old.resources) then
    raise exception 'immutable column of table % was changed', tg_table_name using errcode = '23514';
  end if;
  return new;
end $$;
create trigger transaction_update before update on transactions for each row execute function check_transaction_update();

-- One set of signed bytes, committed before any node receives it (I-11). A replacement is one more attempt; the foreign
-- key makes it share the conflict key (I-12).
create table attempts (
  id bigint primary key generated always as identity,
  transaction_id uuid not null,
  conflict_key text not null,
  network text not null,
  tx_hash text not null,
  raw text not null,
  -- What the signer was asked to sign.
  intent jsonb not null,
  -- The largest fee that the network can take, in the native coin.
  fee_units units not null,
  state text not null default 'signed' check (state in ('signed', 'replaced', 'confirmed')),
  block_height bigint,
  block_hash text,
  -- The first broadcast.
  sent_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  unique (network, tx_hash),
  foreign key (transaction_id, conflict_key) references transactions (id, conflict_key)
);
create index attempts_of_transaction on attempts (transaction_id);
-- I-10.
create unique index one_confirmed_attempt on attempts (transaction_id) where state = 'confirmed';
create index attempts_by_height on attempts (network, block_height);

-- Signed bytes may be on the network, so they never change and are never deleted (I-11).
create function check_attempt_update() returns trigger language plpgsql as $$
begin
  if (new.id, new.transaction_id, new.network, new.tx_hash, new.raw, new.fee_units) is distinct from
    (old.id, old.transaction_id, old.network, old.tx_hash, old.raw, old.fee_units) then
    raise exception 'immutable column of table % was changed', tg_table_name using errcode = '23514';
  end if;
  return new;
end $$;
create trigger attempt_update before update on attempts for each row execute function check_attempt_update();
create trigger attempts_stay before delete on attempts for each row execute function forbid_change();

-- Why money leaves, one row per reason. Destination, asset and amount never change.
create table payouts (
  id uuid primary key,
  exchange_id uuid references exchanges,
  execution_id uuid references executions,
  -- The deposit that it answers: nothing is signed unless that deposit is credited and deep enough (I-4).
  deposit_id bigint references deposits,
  leg int,
  purpose text not null check (purpose in ('payout', 'refund', 'sweep', 'gas', 'withdrawal', 'split', 'consolidate')),
  -- Of a withdrawal: the account that it settles: of a partner, of unclaimed funds, or the operator's capital.
  owed_from text,
  network text not null,
  asset_id text not null,
  -- The wallet that pays: the hot wallet, or the deposit address that is swept.
  branch text not null default 'hot' check (branch in ('deposit', 'hot')),
  key_index bigint not null default 0,
  address text not null,
  memo text not null default '',
  units units not null check (units > 0),
  -- Authentication code of the whole payout, with a key that is not in the database. Null = a payout to ourselves (I-39).
  mac text,
  -- An operator allowed it to exceed the limit of a single payout.
  approved boolean not null default false,
  state text not null default 'reserved' check (state in ('reserved', 'signed', 'confirmed', 'void')),
  transaction_id uuid references transactions,
  held_until timestamptz,
  -- How often in a row it was held for a limit: each time it waits twice as long.
  postponed int not null default 0,
  -- Alarm about what it waits for since it was postponed: `limit:…`, `signer-limit:…`, `wallet:…`, `payout-fee:…`.
  waits_for text,
  -- Why an operator must look at it before it is signed: `LIMIT`, `REVERTED`, `LOST`, an error code.
  attention text,
  -- A reorg reversed it after its exchange was closed: the amount is owed in `liability:lost:<id>`, not by the exchange.
  lost boolean not null default false,
  -- The reason of its execution before `PAYOUT_VANISHED`, to restore it if the payout confirms again.
  vanished_reason text,
  -- The transaction that last changed it; updated for refunds only, which status responses show.
  changed_by xid8 default pg_current_xact_id(),
  -- Its place in the queue.
  created_at timestamptz not null default clock_timestamp(),
  check ((purpose in ('payout', 'refund')) = (execution_id is not null)),
  check ((state in ('signed', 'confirmed')) = (transaction_id is not null)),
  -- A withdrawal settles a debt, so a row that was inserted alone is refused.
  check (purpose <> 'withdrawal' or owed_from is not null),
  check (owed_from is null or (purpose = 'withdrawal' and (owed_from in ('liability:unclaimed', 'equity:capital') or owed_from like 'liability:partner:%')))
);
-- An execution has a payout or a refund, never both and never two (I-8).
create unique index payout_or_refund on payouts (execution_id) where purpose in ('payout', 'refund') and state <> 'void';
create index payouts_queue on payouts (network, (coalesce(held_until, created_at)), created_at, id)
  where state = 'reserved' and attention is null;
-- Owed, and still in the wallet.
create index withdrawals_queued on payouts (asset_id) include (units) where purpose = 'withdrawal' and state = 'reserved';
-- The oldest that waits for the same.
create index payouts_waiting on payouts (waits_for, created_at)
  where state = 'reserved' and attention is null and waits_for is not null;
create index payouts_held on payouts (created_at) where state = 'reserved' and attention is not null;
-- The reconciler reads these every minute.
create index payouts_signed on payouts (network, asset_id) where state = 'signed';
-- Gas that a deposit address got lately.
create index gas_supplies on payouts (network, address, created_at) where purpose = 'gas';
-- Splits and consolidations of a wallet's outputs, newest first.
create index payouts_within_wallet on payouts (network, created_at) where purpose in ('split', 'consolidate');
create index payouts_of_transaction on payouts (transaction_id);
create index payouts_of_deposit on payouts (deposit_id) where deposit_id is not null;
create index refunds_changed on payouts (changed_by) where purpose = 'refund';

-- A payout leaves its transaction only after that one is proved to be invalid, so it cannot be signed for twice (I-9,
-- I-13). `confirmed` may become `reserved` again: a reorg reversed it.
create function check_payout_update() returns trigger language plpgsql as $$
begin
  if new.state <> old.state and (old.state, new.state) not in
    (('reserved', 'signed'), ('reserved', 'void'), ('signed', 'confirmed'), ('signed', 'reserved'), ('confirmed', 'reserved')) then
    raise exception 'illegal payout edge % -> %', old.state, new.state using errcode = '23514';
  end if;
  if old.transaction_id is not null and new.transaction_id is distinct from old.transaction_id
    and (select state from transactions where id = old.transaction_id) <> 'expired' then
    raise exception 'payout % has a transaction that may still confirm', old.id using errcode = '23514';
  end if;
  if (new.id, new.purpose, new.network, new.asset_id, new.address, new.memo, new.units, new.branch, new.key_index)
    is distinct from (old.id, old.purpose, old.network, old.asset_id, old.address, old.memo, old.units, old.branch, old.key_index)
    or new.execution_id is distinct from old.execution_id or new.deposit_id is distinct from old.deposit_id then
    raise exception 'immutable column of table % was changed', tg_table_name using errcode = '23514';
  end if;
  return new;
end $$;
create trigger payout_update before update on payouts for each row execute function check_payout_update();

create function check_owed_from() returns trigger language plpgsql as $$
begin
  if new.owed_from is distinct from old.owed_from then
    raise exception 'immutable column of table % was changed', tg_table_name using errcode = '23514';
  end if;
  return new;
end $$;
create trigger payout_owed_from before update of owed_from on payouts for each row execute function check_owed_from();

create trigger payout_changed before update on payouts for each row when (new.purpose = 'refund') execute function note_change();

-- Reserves the funds before anything can be signed (I-3). A payout pays at most what its filled order bought. A refund
-- pays at most what its deposit was credited with; on a later leg it pays the source asset that its own order bought
-- back. All reserved and signed payouts of an exchange together stay within what we owe it, so no exchange is paid out
-- of another one's deposit.
create function check_payout_is_backed() returns trigger language plpgsql as $$
declare owed numeric; total numeric;
begin
  if new.purpose = 'refund' and not exists (
    select 1 from executions x join deposits d on d.id = x.deposit_id
    where x.id = new.execution_id and d.status = 'credited' and (
      (x.leg = 0 and d.asset_id = new.asset_id and d.credited_units >= new.units) or
      (x.leg > 0 and exists (select 1 from orders o where o.id = x.order_id and o.state = 'filled'
        and o.give_asset = d.asset_id and o.take_asset = new.asset_id and o.take_units >= new.units)))
  ) then
    raise exception 'refund % exceeds what execution % received', new.id, new.execution_id using errcode = '23514';
  end if;
  if new.purpose = 'payout' and not exists (
    select 1 from executions x join orders o on o.id = x.order_id
    where x.id = new.execution_id and o.state = 'filled' and o.take_asset = new.asset_id and o.take_units >= new.units
  ) then
    raise exception 'payout % exceeds what the order of execution % bought', new.id, new.execution_id using errcode = '23514';
  end if;
  -- This update locks the row. Confirming another payout of the exchange changes both columns in one transaction, so
  -- they are consistent here.
  update balances set promised = promised + new.units
    where account = 'liability:exchange:' || new.exchange_id and asset_id = new.asset_id returning -units, promised into owed, total;
  if not found or total > owed then
    raise exception 'payouts of exchange % exceed what it is owed', new.exchange_id using errcode = '23514';
  end if;
  return null;
end $$;
create trigger payout_is_backed after insert on payouts for each row
  when (new.execution_id is not null and new.state = 'reserved') execute function check_payout_is_backed();

-- A reversed payout of a closed exchange (`lost`) is owed by another account and does not count.
create function release_commitment() returns trigger language plpgsql as $$
begin
  update balances set promised = promised - old.units
    where account = 'liability:exchange:' || old.exchange_id and asset_id = old.asset_id;
  return null;
end $$;
create trigger payout_commitment_released after update of state on payouts for each row
  when (old.execution_id is not null and not old.lost and old.state in ('reserved', 'signed') and new.state in ('confirmed', 'void'))
  execute function release_commitment();

create function restore_commitment() returns trigger language plpgsql as $$
begin
  update balances set promised = promised + new.units
    where account = 'liability:exchange:' || new.exchange_id and asset_id = new.asset_id;
  return null;
end $$;
create trigger payout_commitment_restored after update of state on payouts for each row
  when (new.execution_id is not null and not new.lost and old.state = 'confirmed' and new.state = 'reserved')
  execute function restore_commitment();

-- The transaction that requests a withdrawal also moves the amount out of `owed_from`, so it cannot be withdrawn twice.
create function check_withdrawal_is_backed() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from balances where account = 'liability:withdrawal:' || new.id and asset_id = new.asset_id and units = -new.units) then
    raise exception 'withdrawal % was not debited from the account that it settles', new.id using errcode = '23514';
  end if;
  return null;
end $$;
create trigger withdrawal_is_backed after insert on payouts for each row
  when (new.owed_from is not null) execute function check_withdrawal_is_backed();

-- Signed amounts per scope (`all`, `asset:<id>`, `partner:<id>`), for the rolling limits (I-24). Refunds are counted in
-- scopes of their own (`refund:all`, …).
create table outflows (
  payout_id uuid not null references payouts,
  scope text not null,
  -- US dollars × 10^12.
  usd units not null,
  at timestamptz not null default clock_timestamp(),
  primary key (payout_id, scope)
);
create index outflows_of_scope on outflows (scope, at);
create index outflows_by_age on outflows (at);

-- Sums of `outflows` per scope and five minutes, so that a signature does not add up a day of rows. A window is the sum of
-- the intervals inside it, and of the rows at its edge.
create table outflow_sums (
  scope text not null,
  -- Begin of the five minutes.
  at timestamptz not null,
  usd units not null,
  primary key (scope, at)
) with (fillfactor = 50);

create function begin_of_outflow_sum(at timestamptz) returns timestamptz language sql immutable as $$
  select date_bin(interval '5 minutes', at, timestamptz '2000-01-01 00:00:00Z')
$$;

-- The lock of `outflow` in outflow.ts serialises the writers.
create function sum_outflows() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    update outflow_sums s set usd = s.usd - r.usd from (
      select scope, begin_of_outflow_sum(at) as at, sum(usd) as usd from removed group by 1, 2) r
    where s.scope = r.scope and s.at = r.at;
  end if;
  if tg_op <> 'DELETE' then
    insert into outflow_sums as s (scope, at, usd)
    select scope, begin_of_outflow_sum(at), sum(usd) from added group by 1, 2
    on conflict (scope, at) do update set usd = s.usd + excluded.usd;
  end if;
  return null;
end $$;
create trigger outflows_inserted after insert on outflows referencing new table as added
  for each statement execute function sum_outflows();
create trigger outflows_updated after update on outflows referencing old table as removed new table as added
  for each statement execute function sum_outflows();
create trigger outflows_deleted after delete on outflows referencing old table as removed
  for each statement execute function sum_outflows();

-- As in 0002_exchanges.sql.
alter table transactions set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);
alter table attempts set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);
alter table payouts set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);
alter table outflows set (autovacuum_vacuum_scale_factor = 0.01);
-- Updated by each signature: `next` is in no index.
alter table nonce_lanes set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
