-- Adding a delivery locks its webhook first. Without a pending delivery there is no other row that two of them share, and
-- both would be sent at once.
create or replace function queue_delivery() returns trigger language plpgsql as $$
begin
  perform 1 from webhooks w where w.id = new.webhook_id for no key update;
  perform 1 from webhook_deliveries d
    where d.webhook_id = new.webhook_id and d.subject_id = new.subject_id and d.state = 'pending'
    order by d.id desc limit 1 for update;
  new.next_attempt_at := case when found then null else clock_timestamp() end;
  return new;
end $$;
