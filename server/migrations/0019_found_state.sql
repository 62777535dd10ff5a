-- An act is carried out only on the state about which it was asked.

alter table operator_requests add column found_hash bytea check (length(found_hash) = 32);

create or replace function check_request_update() returns trigger language plpgsql as $$
begin
  if old.state <> 'asked'
    or (new.id, new.action, new.arguments, new.reason, new.asked_by, new.asked_at, new.expires_at, new.found_hash)
    is distinct from
      (old.id, old.action, old.arguments, old.reason, old.asked_by, old.asked_at, old.expires_at, old.found_hash) then
    raise exception 'a request is decided once, and its terms never change' using errcode = '23514';
  end if;
  return new;
end $$;
