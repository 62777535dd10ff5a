-- What a coin of ours was made from: where one of these outputs is spent by another transaction, finally, the coin will never be.
alter table coins add column made_from text[] not null default '{}';

-- A transaction that a person says took the place of ours: where to look for a proof, never a proof.
alter table transactions add column rival text;
