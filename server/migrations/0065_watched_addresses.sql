-- Which transaction brought an address: a scanner that keeps the addresses in memory asks for those that came since.
-- With a default that is evaluated for each row the table is written anew, once.
alter table deposit_targets add created_by xid8 not null default pg_current_xact_id();
create index deposit_targets_created on deposit_targets (network, created_by);
