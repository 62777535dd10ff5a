-- A row without an answer is the claim of the request that acts now (I-21). Another request with its key waits, or takes the claim
-- over when its time has passed, because the process that held it crashed.
alter table kept_answers
  alter column answer drop not null,
  -- The attempt that may store the answer. Null in rows of earlier versions, which have an answer.
  add column claim_id uuid,
  add column claimed_until timestamptz,
  add constraint kept_answers_claimed check (answer is not null or (claim_id is not null and claimed_until is not null));
