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
