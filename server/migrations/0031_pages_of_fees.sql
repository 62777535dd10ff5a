-- Lists of the admin API in pages: swap fees without a known partner by the order in which they were found, and fees at our addresses.
alter table unclaimed_fees add column id bigint generated always as identity;
create unique index unclaimed_fees_by_id on unclaimed_fees (id);
create index balances_of_fees on balances (account, asset_id) where starts_with(account, 'asset:fees:');
