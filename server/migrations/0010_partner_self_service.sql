-- What partners do without the operator.

-- The partner cancelled the exchange before anything was seen: every deposit is refunded.
alter table exchanges add column cancelled_at timestamptz;
-- The partner's own id of the exchange: any text, not unique.
alter table exchanges add column external_id text check (length(external_id) between 1 and 64);
-- Lists of the last 24 hours by this id.
create index exchanges_by_external_id on exchanges (partner_id, external_id, created_at desc) where external_id is not null;

-- Fixed rates that were cancelled, until the promise would have ended: they reserve nothing, but count against the share of
-- their partner. Otherwise a partner could order again at each new price.
create table cancelled_promises (
  exchange_id uuid primary key references exchanges,
  asset_id text not null,
  partner_id uuid not null,
  units units not null,
  until timestamptz not null
);
create index cancelled_promises_of_asset on cancelled_promises (asset_id, until);

alter table swaps add column external_id text check (length(external_id) between 1 and 64);
create index swaps_by_external_id on swaps (partner_id, external_id, created_at desc) where external_id is not null;
