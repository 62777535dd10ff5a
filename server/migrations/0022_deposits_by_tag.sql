-- Above its network's value tiers a deposit waits for the chain's own tag as well.
alter table deposits add column required_tag text check (required_tag in ('safe', 'finalized'));

-- It came to an address of the house by which many are told apart by memos, and its memo is nobody's.
alter table deposits add column unclaimed boolean not null default false;
create index deposits_unclaimed on deposits (network, id) where unclaimed;
create index fundings_off_chain on deposits (network, id) where exchange_id is null and status = 'credited' and block_height is null;
