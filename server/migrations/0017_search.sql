-- What the search of the admin API finds exchanges by: refund address, the partner's own id, and the amount of a deposit.
create index exchanges_by_refund_address on exchanges (refund_address, created_at desc, id desc) where refund_address is not null;
create index exchanges_by_own_id on exchanges (external_id, created_at desc, id desc) where external_id is not null;
create index deposits_by_amount on deposits (asset_id, units, id desc) where exchange_id is not null;
