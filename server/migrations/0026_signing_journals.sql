-- While payouts are held, every worker compares its whole journal, and the release of the hold waits for those that run.
alter table signing_journals
  -- The last comparison of the whole journal, as its worker names it; null = the worker is asked for one.
  add column compared uuid default gen_random_uuid(),
  add column seen_at timestamptz not null default clock_timestamp(),
  -- A new journal beside others may stand in for a lost one: payouts are held until an operator releases them. A new
  -- generation confirms every journal, and resets the positions.
  add column confirmed boolean not null default true;

-- An import asks whether a payout was released again by a later transaction.
create index forgotten_payouts_by_payout on forgotten_payouts (payout_id);

-- Skips more key indexes than the time that a restored database forgot can have used. The logins of processes own no
-- sequence and may not set one; this function only moves these two forwards.
create function skip_key_indexes() returns void language sql security definer set search_path = public, pg_temp as $$
  select setval('deposit_key_index', nextval('deposit_key_index') + 1000000);
  select setval('change_key_index', nextval('change_key_index') + 1000000);
$$;
