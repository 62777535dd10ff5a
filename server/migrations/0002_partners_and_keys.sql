-- Who may call. A key's secret is never stored: only its HMAC under the pepper (reliability 4.1).

create table partners (
  id uuid primary key,
  name text not null unique,
  fee_bps int not null default 0 check (fee_bps between 0 and 1000),
  open_exchanges_max int not null default 10000 check (open_exchanges_max > 0),
  rate_limit_per_minute int not null default 6000 check (rate_limit_per_minute > 0),
  strict boolean not null default false,
  suspended boolean not null default false,
  created_at timestamptz not null default clock_timestamp()
);

create table default_recipients (
  partner_id uuid not null references partners,
  asset_id text not null,
  address text not null,
  memo text not null default '',
  primary key (partner_id, asset_id)
);

create table api_keys (
  id text primary key,
  partner_id uuid not null references partners,
  scopes text[] not null,
  ip_allow_list text[] not null default '{}',
  revoked_at timestamptz,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  -- To the minute: it says whether a key is in use, not when somebody calls.
  last_used_at timestamptz
);
create index api_keys_of_partner on api_keys (partner_id);

-- Two at most are alive at once: the new one, and the old one until its grace is over.
create table key_secrets (
  key_id text not null references api_keys,
  hmac bytea not null,
  expires_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  primary key (key_id, hmac)
);

create function key_secrets_at_most_two() returns trigger language plpgsql as $$
begin
  perform 1 from api_keys where id = new.key_id for update;
  if (select count(*) from key_secrets where key_id = new.key_id and (expires_at is null or expires_at > clock_timestamp())) > 2 then
    raise exception 'a key has two live secrets at most' using errcode = '23514';
  end if;
  return null;
end $$;
create trigger key_secrets_two after insert on key_secrets for each row execute function key_secrets_at_most_two();

-- Every process hears of a change within milliseconds; caches live 5 s where it does not.
create function partners_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('partners_changed', '');
  return null;
end $$;
create trigger partners_changed after insert or update or delete on partners for each statement execute function partners_changed();
create trigger api_keys_changed after insert or delete on api_keys for each statement execute function partners_changed();
create trigger api_keys_revoked after update of revoked_at, scopes, ip_allow_list on api_keys for each statement execute function partners_changed();
create trigger key_secrets_changed after insert or update or delete on key_secrets for each statement execute function partners_changed();
create trigger default_recipients_changed after insert or update or delete on default_recipients for each statement execute function partners_changed();
