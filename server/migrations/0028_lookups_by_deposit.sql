-- Executions that were closed as failed while their money stayed here: few of all entries. Without it, the list of unclaimed
-- deposits would look for the entry of every failed execution.
create index journal_of_unclaimed on journal ((substr(id, 11, 36)::uuid)) where id like 'execution:%:unclaimed';
-- The output of a deposit that its transaction has left.
create index utxos_of_deposit on coins (deposit_id) where deposit_id is not null;
