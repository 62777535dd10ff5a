-- A scan asks the index of destinations for a block's addresses, so nothing reads which transaction added an address.
-- The index deposit_targets_created goes with the column.
alter table deposit_targets drop column created_by;
