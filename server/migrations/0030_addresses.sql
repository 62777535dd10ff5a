-- A block asks for thousands of addresses: by hash a search costs the same however many are watched.
create index deposit_targets_by_address on deposit_targets using hash (address);
