-- The schedule of a delivery follows from the time of its first failure. `attempts` is never reset: with the id it names a claim.
alter table webhook_deliveries
  -- The first failure since the webhook was enabled; null = it has not failed since, or it is delivered.
  add column failing_since timestamptz,
  add constraint webhook_deliveries_failing check (state = 'pending' or failing_since is null);
