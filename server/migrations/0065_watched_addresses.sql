-- Which transaction brought an address: a scanner that keeps the addresses in memory asks for those that came since.
-- With a default that is evaluated for each row the table is written anew, once.
alter table deposit_targets add created_by xid8 not null default pg_current_xact_id();
create index deposit_targets_created on deposit_targets (network, created_by);

-- Scans ask for few addresses now. Those of strangers, on whatever network, are asked for by creates: with the address
-- first one index answers both, and a create writes one place at random instead of two.
drop index deposit_targets_by_address;
alter table deposit_targets drop constraint deposit_targets_network_address_memo_key;
alter table deposit_targets add constraint deposit_targets_destination unique (address, network, memo);
