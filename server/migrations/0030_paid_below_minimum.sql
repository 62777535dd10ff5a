-- On Solana, the bounds of a swap by an aggregator count from the balances before: a payment to the account between build and
-- block loosens them by its amount. So the chain may execute a swap that pays less than its minimum, and its row says so.
do $$
declare
  old_check text;
begin
  select conname into strict old_check from pg_constraint
  where conrelid = 'swaps'::regclass and contype = 'c' and pg_get_constraintdef(oid) like '%received_units%min_units%';
  execute format('alter table swaps drop constraint %I', old_check);
end $$;
alter table swaps add constraint swaps_finished_paid check (
  status <> 'finished'
  or (block_hash is not null and received_units is not null and (received_units >= min_units or network = 'sol')));
