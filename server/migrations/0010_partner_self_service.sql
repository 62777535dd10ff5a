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

-- Bookings on the account of each partner, by day, asset and event: statements read these rows and not all postings.
create table partner_days (
  -- As in the name of the account.
  partner_id text not null,
  day date not null,
  asset_id text not null,
  event text not null,
  credited units not null,
  debited units not null,
  bookings int not null,
  primary key (partner_id, day, asset_id, event)
);

-- Adds the inserted postings, in the order of the key, as `apply_postings` does.
create function add_partner_days() returns trigger language plpgsql as $$
begin
  insert into partner_days as p (partner_id, day, asset_id, event, credited, debited, bookings)
  select split_part(a.account, ':', 3), (j.at at time zone 'UTC')::date, a.asset_id, j.event,
    sum(a.credited), sum(a.debited), count(*)
  from (
    select journal_id, credit as account, asset_id, units as credited, 0 as debited from added
    where starts_with(credit, 'liability:partner:')
    union all
    select journal_id, debit, asset_id, 0, units from added where starts_with(debit, 'liability:partner:')
  ) a join journal j on j.id = a.journal_id
  group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (partner_id, day, asset_id, event) do update set credited = p.credited + excluded.credited,
    debited = p.debited + excluded.debited, bookings = p.bookings + excluded.bookings;
  return null;
end $$;
create trigger postings_by_day after insert on postings referencing new table as added
  for each statement execute function add_partner_days();

-- A publishable key: pages of these origins may use it, for quotes and creates. Null = a secret key.
alter table api_keys add column origins text[] check (cardinality(origins) > 0);
