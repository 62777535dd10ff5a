-- Conversions: orders at a venue, and the stock of the inventory venue.

-- Venue orders. The id is stored before the venue is called, so a call that is repeated cannot trade twice (I-22).
create table orders (
  id text primary key,
  execution_id uuid not null references executions,
  venue text not null,
  give_asset text not null,
  give_units units not null,
  take_asset text not null,
  take_units units not null,
  state text not null default 'planned' check (state in ('planned', 'filled', 'rejected', 'unknown', 'cancelled')),
  created_at timestamptz not null default clock_timestamp()
);

-- An order sells exactly what its execution was credited with, in the same asset: a token is never sold as another one.
create function check_order_is_backed() returns trigger language plpgsql as $$
begin
  if not exists (
    select 1 from executions x join deposits d on d.id = x.deposit_id
    where x.id = new.execution_id and d.status = 'credited' and d.asset_id = new.give_asset and d.credited_units = new.give_units
  ) then
    raise exception 'order % sells what execution % was not credited with', new.id, new.execution_id using errcode = '23514';
  end if;
  return null;
end $$;
create trigger order_is_backed after insert on orders for each row execute function check_order_is_backed();

-- The stock of each asset that is reserved, which is the sum of its `reservations`. The row is locked to reserve, so that
-- two exchanges never reserve the same stock.
create table inventory (asset_id text primary key, promised units not null default 0);

-- One reservation: `hold:<exchange>` for a fixed rate, or the id of an order that is filled and whose payout is not
-- signed yet. The foreign key is deferred because the hold is inserted before the exchange.
create table reservations (
  id text primary key,
  asset_id text not null references inventory,
  units units not null,
  exchange_id uuid not null references exchanges deferrable initially deferred,
  expires_at timestamptz,
  -- Whose fixed rate it holds; null = an order.
  partner_id uuid,
  -- A deposit in a block can execute at this fixed rate: the hold stays until the exchange has processed it.
  paid boolean not null default false,
  created_at timestamptz not null default clock_timestamp()
);
-- Summed at each create at a fixed rate: unpaid promises have limits per asset and per partner.
create index reservations_unpaid on reservations (asset_id, partner_id) include (units) where partner_id is not null and not paid;
create index reservations_expiring on reservations (expires_at) where expires_at is not null;

alter table orders set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);
alter table reservations set (autovacuum_vacuum_scale_factor = 0.01);
-- A row per asset, updated by each conversion.
alter table inventory set (fillfactor = 50);
