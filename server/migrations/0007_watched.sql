-- What the reconciler asks for every minute, by the indexes that answer it.
create index exchanges_watched on exchanges (from_network, created_at desc) where status in ('pending', 'confirming');
create index payouts_signed on payouts (network, asset_id) where state = 'signed';
