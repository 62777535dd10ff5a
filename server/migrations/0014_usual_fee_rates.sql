-- Sweeps of small deposits wait for a fee rate that is not above the usual one. It is kept over restarts: a process that starts while
-- fees are high would take the high rate for the usual one.
create table usual_fee_rates (
  network text primary key,
  -- Average over about half a day, in base units of the coin per unit of gas.
  rate units not null,
  stored_at timestamptz not null default clock_timestamp()
);
