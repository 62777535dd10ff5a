-- A repeat of a create has its first answer (I-21). The sandbox can end the time of an exchange, which the answer states: these
-- are the times that the create answered; null = the exchange still has them.
alter table idempotency_keys
  add column expires_at timestamptz,
  add column fixed_until timestamptz;
