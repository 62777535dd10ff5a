-- Every create asks whether an address is one of ours on any network: networks of one family share their addresses.
create index house_addresses_by_address on house_addresses using hash (address);
