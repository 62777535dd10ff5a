-- Events for partners, by webhook and by event stream. Triggers record them in the transaction of the change, so that no
-- code can change a status without its event (I-43).

-- Gets an e-mail when a webhook of the partner was disabled; null = no e-mails.
alter table partners add column email text check (length(email) between 3 and 254);

-- One row per event, deleted after 30 days.
create table partner_events (
  id uuid primary key default gen_random_uuid(),
  -- The order of the changes of one exchange or swap: assigned while its row is locked.
  seq bigint not null unique generated always as identity,
  partner_id uuid not null,
  kind text not null check (kind in ('exchange', 'swap', 'webhook')),
  -- The exchange or swap; of a test, the event itself.
  subject_id uuid not null,
  type text not null,
  -- A test is for this webhook alone, and in no stream.
  webhook_id uuid,
  created_at timestamptz(3) not null default clock_timestamp(),
  -- An event that could not be rendered is not tried again before this time.
  publish_at timestamptz not null default clock_timestamp(),
  -- Assigned by the publisher, one transaction at a time: who has read up to a position misses no smaller one.
  position bigint unique,
  -- What is delivered, byte for byte the same each time.
  body text,
  check ((position is null) = (body is null)),
  check ((kind = 'webhook') = (webhook_id is not null))
);
create sequence partner_event_positions;
create index partner_events_unpublished on partner_events (seq) where position is null;
create index partner_events_unpublished_of on partner_events (subject_id, seq) where position is null;
create index partner_events_of_partner on partner_events (partner_id, position) where position is not null;
create index partner_events_by_age on partner_events (created_at);

create function partner_events_added() returns trigger language plpgsql as $$
begin
  perform pg_notify('partner_events_added', '');
  return null;
end $$;
create trigger partner_events_added after insert on partner_events
  for each statement execute function partner_events_added();

create function add_exchange_event() returns trigger language plpgsql as $$
begin
  insert into partner_events (partner_id, kind, subject_id, type)
    values (new.partner_id, 'exchange', new.id, 'exchange.' || new.status);
  return null;
end $$;
create trigger exchange_event after update of status on exchanges for each row
  when (new.status is distinct from old.status) execute function add_exchange_event();

-- A refund waits until the partner names an address; the status of the exchange may be that of another deposit.
create function add_refund_address_event() returns trigger language plpgsql as $$
begin
  insert into partner_events (partner_id, kind, subject_id, type)
    select partner_id, 'exchange', id, 'exchange.refund_address_required' from exchanges where id = new.exchange_id;
  return null;
end $$;
create trigger execution_refund_address_event after update of reason on executions for each row
  when (new.reason = 'REFUND_ADDRESS_REQUIRED' and old.reason is distinct from new.reason)
  execute function add_refund_address_event();

-- A swap that was found on the chain is not shown before its partner reports it.
create function add_swap_event() returns trigger language plpgsql as $$
begin
  insert into partner_events (partner_id, kind, subject_id, type)
    values (new.partner_id, 'swap', new.id, 'swap.' || new.status);
  return null;
end $$;
create trigger swap_event after update of status, told on swaps for each row
  when (new.told and (new.status is distinct from old.status or (not old.told and new.status <> 'pending')))
  execute function add_swap_event();

create table webhooks (
  id uuid primary key,
  partner_id uuid not null references partners,
  url text not null check (length(url) between 8 and 2048),
  -- Empty = all types.
  events text[] not null,
  -- Encrypted with a key that is not in the database.
  secret bytea not null,
  -- Signs beside the new one until its time.
  previous_secret bytea,
  previous_until timestamptz,
  -- Null = enabled. Its deliveries wait while it is disabled.
  disabled_by text check (disabled_by in ('partner', 'operator', 'failures')),
  created_at timestamptz(3) not null default clock_timestamp(),
  check ((previous_secret is null) = (previous_until is null))
);
create index webhooks_of_partner on webhooks (partner_id, created_at, id);

-- One row per event and webhook. The deliveries of one exchange to one webhook are sent one after the other, by id.
create table webhook_deliveries (
  id bigint primary key generated always as identity,
  webhook_id uuid not null references webhooks on delete cascade,
  event_id uuid not null references partner_events on delete cascade,
  subject_id uuid not null,
  state text not null default 'pending' check (state in ('pending', 'delivered')),
  attempts int not null default 0 check (attempts >= 0),
  -- Null = delivered, or behind an earlier one of the same exchange. While it is sent, the end of its lease.
  next_attempt_at timestamptz,
  last_attempt_at timestamptz,
  -- The status of the last answer; null = none came.
  last_status int,
  last_error text,
  created_at timestamptz(3) not null default clock_timestamp(),
  delivered_at timestamptz(3),
  check ((state = 'delivered') = (delivered_at is not null)),
  check (state = 'pending' or next_attempt_at is null)
);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at, id) where next_attempt_at is not null;
create index webhook_deliveries_waiting on webhook_deliveries (webhook_id, subject_id, id) where state = 'pending';
create index webhook_deliveries_of_webhook on webhook_deliveries (webhook_id, id desc);
create index webhook_deliveries_of_event on webhook_deliveries (event_id);

-- A new delivery waits behind the last pending one. The lock makes this wait for a transaction that ends it, and then look
-- again; a transaction that ends it later sees the new row.
create function queue_delivery() returns trigger language plpgsql as $$
begin
  perform 1 from webhook_deliveries d
    where d.webhook_id = new.webhook_id and d.subject_id = new.subject_id and d.state = 'pending'
    order by d.id desc limit 1 for update;
  new.next_attempt_at := case when found then null else clock_timestamp() end;
  return new;
end $$;
create trigger delivery_queued before insert on webhook_deliveries for each row execute function queue_delivery();

create function release_next_delivery() returns trigger language plpgsql as $$
begin
  update webhook_deliveries set next_attempt_at = clock_timestamp()
    where next_attempt_at is null and id = (select d.id from webhook_deliveries d
      where d.webhook_id = old.webhook_id and d.subject_id = old.subject_id and d.state = 'pending' order by d.id limit 1);
  return null;
end $$;
create trigger delivery_delivered after update of state on webhook_deliveries for each row
  when (old.state = 'pending' and new.state <> 'pending') execute function release_next_delivery();
create trigger delivery_deleted after delete on webhook_deliveries for each row
  when (old.state = 'pending') execute function release_next_delivery();

-- E-mails to partners. A worker sends them, at least once.
create table mails (
  -- Also in the header Message-ID, by which a mail server recognises a repeat.
  id uuid primary key default gen_random_uuid(),
  recipient text not null,
  subject text not null,
  body text not null,
  created_at timestamptz not null default clock_timestamp(),
  attempts int not null default 0,
  -- Null = sent, or given up.
  next_attempt_at timestamptz default clock_timestamp(),
  sent_at timestamptz,
  last_error text
);
create index mails_due on mails (next_attempt_at) where next_attempt_at is not null;
