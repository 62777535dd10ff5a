-- Every act of an operator holds the hash of the one before it: whoever changes, adds or takes out a row in the middle
-- breaks the chain at that row, and `swapyard audit verify` names it (I-28).
alter table operator_acts
  add column before jsonb,
  add column after jsonb,
  add column previous bytea,
  add column hash bytea;

-- Over the hash before and those of every field, so that no text can be moved from one field into the next.
create function hash_operator_act(a operator_acts) returns bytea language sql stable as $$
  select sha256(a.previous || sha256(convert_to(a.id::text, 'UTF8'))
    || sha256(convert_to(to_char(a.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), 'UTF8'))
    || sha256(convert_to(a.actor, 'UTF8')) || sha256(convert_to(a.act, 'UTF8')) || sha256(convert_to(a.subject, 'UTF8'))
    || sha256(convert_to(a.reason, 'UTF8')) || sha256(convert_to(a.detail::text, 'UTF8'))
    || sha256(convert_to(coalesce(a.before::text, ''), 'UTF8')) || sha256(convert_to(coalesce(a.after::text, ''), 'UTF8')))
$$;

-- One after the other: the id is given here, under a lock that is held until the commit.
create function chain_operator_act() returns trigger language plpgsql as $$
declare last record;
begin
  perform pg_advisory_xact_lock(7240926);
  select id, hash into last from operator_acts order by id desc limit 1;
  new.id := coalesce(last.id, 0) + 1;
  new.at := clock_timestamp();
  new.previous := coalesce(last.hash, decode(repeat('00', 32), 'hex'));
  new.hash := hash_operator_act(new);
  return new;
end $$;

-- Rows from before there was a chain are its beginning.
alter table operator_acts disable trigger operator_acts_append_only;
do $$
declare one record; last bytea := decode(repeat('00', 32), 'hex');
begin
  for one in select id from operator_acts order by id loop
    update operator_acts set previous = last where id = one.id;
    update operator_acts a set hash = hash_operator_act(a) where a.id = one.id returning a.hash into last;
  end loop;
end $$;
alter table operator_acts enable trigger operator_acts_append_only;

alter table operator_acts alter column id drop identity;
alter table operator_acts alter column previous set not null, alter column hash set not null;
create trigger operator_acts_chain before insert on operator_acts for each row execute function chain_operator_act();
