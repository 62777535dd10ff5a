-- What partners set about their referrer fees, their ids of swaps from the build on, and the list of webhooks of operators.

-- The partner's own id that a build of a swap named, until the swap gets its row. Deleted after 30 days.
create table built_external_ids (
  -- The reference in the transaction of the swap.
  ref text primary key,
  partner_id uuid not null,
  external_id text not null check (length(external_id) between 1 and 64),
  built_at timestamptz not null default clock_timestamp()
);
create index built_external_ids_by_age on built_external_ids (built_at);

-- A partner's change of its fee address waits: a stolen API key must not redirect fees before the partner can object.
alter table fee_addresses
  -- Null = none yet.
  alter column address drop not null,
  add column next_address text,
  -- From then on `next_address` is in effect.
  add column next_from timestamptz(3),
  -- The API key that asked last, and when; null = an operator set the address.
  add column asked_by text,
  add column asked_at timestamptz,
  add check ((next_address is null) = (next_from is null)),
  add check ((asked_by is null) = (asked_at is null));

alter table partner_events drop constraint partner_events_kind_check,
  add constraint partner_events_kind_check check (kind in ('exchange', 'swap', 'webhook', 'partner'));

-- The subject is the partner itself, so its events are delivered in order.
create function add_fee_address_event() returns trigger language plpgsql as $$
begin
  insert into partner_events (partner_id, kind, subject_id, type)
    select p, 'partner', p, 'partner.fee_address_changed' from (select coalesce(new.partner_id, old.partner_id) as p) s;
  return null;
end $$;
create trigger fee_address_added after insert on fee_addresses for each row
  when (coalesce(new.address, new.next_address) is not null) execute function add_fee_address_event();
create trigger fee_address_changed after update on fee_addresses for each row
  when ((new.address, new.next_address, new.next_from) is distinct from (old.address, old.next_address, old.next_from))
  execute function add_fee_address_event();
create trigger fee_address_removed after delete on fee_addresses for each row
  when (coalesce(old.address, old.next_address) is not null) execute function add_fee_address_event();

-- The list of operators.
create index webhooks_by_age on webhooks (created_at desc, id desc);

-- Balances that are paid once a month to the verified recipient of the partner.
create table monthly_payout_settings (
  partner_id uuid not null,
  asset_id text not null,
  -- A smaller balance is not paid.
  minimum units not null check (minimum > 0),
  primary key (partner_id, asset_id),
  foreign key (partner_id, asset_id) references default_recipients
);

-- The intent of a payout, committed before the payout. One per partner, month and asset.
create table monthly_payouts (
  partner_id uuid not null references partners,
  -- The first day of the month, in UTC.
  month date not null,
  asset_id text not null,
  units units not null check (units > 0),
  address text not null,
  -- Empty = no memo.
  memo text not null,
  -- Null = not queued yet.
  payout_id uuid,
  created_at timestamptz not null default clock_timestamp(),
  primary key (partner_id, month, asset_id)
);
create index monthly_payouts_unpaid on monthly_payouts (month) where payout_id is null;
