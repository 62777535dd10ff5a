-- What every part of the server uses: partners and their API keys, rate limits, the audit log, pauses and alarms.
--
-- In all of these files: amounts are whole base units of the asset; times are the clock of the database; `asset_id` is
-- `ticker@network`. I-1, I-2, … are the invariants of the money path. `docs/database.md` describes every column.

-- An amount in base units. 78 digits hold every uint256.
create domain units as numeric(78, 0) check (value >= 0);

-- For tables that are append-only, and for rows that must not be deleted.
create function forbid_change() returns trigger language plpgsql as $$
begin
  raise exception 'table % is append-only', tg_table_name using errcode = '42501';
end $$;

-- Records which transaction last changed a row. API processes cache responses to status requests and ask which of the
-- rows behind them have changed since.
create function note_change() returns trigger language plpgsql as $$
begin
  new.changed_by := pg_current_xact_id();
  return new;
end $$;

-- The companies that call the API.
create table partners (
  id uuid primary key,
  name text not null unique,
  fee_bps int not null default 0 check (fee_bps between 0 and 1000),
  open_exchanges_max int not null default 10000 check (open_exchanges_max > 0),
  rate_limit_per_minute int not null default 6000 check (rate_limit_per_minute > 0),
  -- Rejects unknown fields in request bodies.
  strict boolean not null default false,
  -- A refund without a refund address goes to the sender of the deposit; otherwise it waits for an address.
  refund_to_sender boolean not null default false,
  suspended boolean not null default false,
  created_at timestamptz not null default clock_timestamp()
);

-- The recipient of an exchange whose create names none, one per partner and asset.
create table default_recipients (
  partner_id uuid not null references partners,
  asset_id text not null,
  address text not null,
  -- Empty = no memo.
  memo text not null default '',
  primary key (partner_id, asset_id)
);

-- API keys without their secrets; `id` is the public part that a request names.
create table api_keys (
  id text primary key,
  partner_id uuid not null references partners,
  scopes text[] not null,
  -- Empty = any address.
  ip_allow_list text[] not null default '{}',
  revoked_at timestamptz,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  -- Rounded to the minute: it shows whether a key is in use, and saves a write per request.
  last_used_at timestamptz
);
create index api_keys_of_partner on api_keys (partner_id);

-- A secret is never stored: only its HMAC under the pepper (I-32).
create table key_secrets (
  key_id text not null references api_keys,
  hmac bytea not null,
  -- Set when the key is rotated: the old secret stays valid until then.
  expires_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  primary key (key_id, hmac)
);

-- At most two secrets of a key are valid at once: the new one, and the old one until its grace period ends. The lock on
-- the key's row serialises concurrent inserts.
create function key_secrets_at_most_two() returns trigger language plpgsql as $$
begin
  perform 1 from api_keys where id = new.key_id for update;
  if (select count(*) from key_secrets where key_id = new.key_id and (expires_at is null or expires_at > clock_timestamp())) > 2 then
    raise exception 'an API key has at most two live secrets' using errcode = '23514';
  end if;
  return null;
end $$;
create trigger key_secrets_two after insert on key_secrets
  for each row execute function key_secrets_at_most_two();

-- Invalidates the partner cache of every process within milliseconds. Cached entries expire after 5 s if the
-- notification is lost. Updates of `last_used_at` do not notify.
create function partners_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('partners_changed', '');
  return null;
end $$;
create trigger partners_changed after insert or update or delete on partners
  for each statement execute function partners_changed();
create trigger default_recipients_changed after insert or update or delete on default_recipients
  for each statement execute function partners_changed();
create trigger api_keys_changed after insert or delete on api_keys
  for each statement execute function partners_changed();
create trigger api_keys_revoked after update of revoked_at, scopes, ip_allow_list on api_keys
  for each statement execute function partners_changed();
create trigger key_secrets_changed after insert or update or delete on key_secrets
  for each statement execute function partners_changed();

-- Rate limits: the cost that each partner or client address used per minute, summed over all processes. Unlogged: writes
-- cost no WAL, and a crash of the database resets the limits.
create unlogged table spent (
  key text not null,
  minute timestamptz not null,
  cost bigint not null,
  primary key (key, minute)
);

-- Audit log: every operator command that affects money, with the operator's reason. Append-only and hash-chained (I-28):
-- each row holds the hash of the row before it, so a row that was changed, added or removed breaks the chain at that
-- row, and `swapyard audit verify` names it.
create table operator_acts (
  -- Consecutive; assigned by `chain_operator_act`.
  id bigint primary key,
  at timestamptz not null default clock_timestamp(),
  actor text not null check (actor <> ''),
  act text not null,
  subject text not null,
  reason text not null check (reason <> ''),
  detail jsonb not null default '{}',
  before jsonb,
  after jsonb,
  -- The hash of the previous row; 32 zero bytes in the first row.
  previous bytea not null,
  hash bytea not null
);
create index operator_acts_of_subject on operator_acts (subject, id);

-- SHA-256 over the previous hash and the hash of each field. Hashing each field separately fixes its boundaries, so text
-- cannot be moved from one field to the next. `swapyard audit verify` computes the same in TypeScript.
create function hash_operator_act(a operator_acts) returns bytea language sql stable as $$
  select sha256(a.previous || sha256(convert_to(a.id::text, 'UTF8'))
    || sha256(convert_to(to_char(a.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), 'UTF8'))
    || sha256(convert_to(a.actor, 'UTF8')) || sha256(convert_to(a.act, 'UTF8')) || sha256(convert_to(a.subject, 'UTF8'))
    || sha256(convert_to(a.reason, 'UTF8')) || sha256(convert_to(a.detail::text, 'UTF8'))
    || sha256(convert_to(coalesce(a.before::text, ''), 'UTF8')) || sha256(convert_to(coalesce(a.after::text, ''), 'UTF8')))
$$;

-- Assigns id, time and hashes. The advisory lock serialises inserts until commit, so ids have no gap.
create function chain_operator_act() returns trigger language plpgsql as $$
declare last record;
begin
  perform pg_advisory_xact_lock(7240927);
  select id, hash into last from operator_acts order by id desc limit 1;
  new.id := coalesce(last.id, 0) + 1;
  new.at := clock_timestamp();
  new.previous := coalesce(last.hash, decode(repeat('00', 32), 'hex'));
  new.hash := hash_operator_act(new);
  return new;
end $$;
create trigger operator_acts_chain before insert on operator_acts
  for each row execute function chain_operator_act();
create trigger operator_acts_append_only before update or delete on operator_acts
  for each row execute function forbid_change();
create trigger operator_acts_no_truncate before truncate on operator_acts execute function forbid_change();

-- Kill switches (I-25): while a row is here, nothing in its scope is signed or sold. Signing reads it in the
-- transaction that stores the signed bytes.
create table pauses (
  scope text primary key,
  reason text not null,
  actor text not null,
  at timestamptz not null default clock_timestamp()
);

-- Conditions that an operator must look at, one row per subject. The row is deleted when the condition ends.
create table alarms (
  subject text primary key,
  -- `critical`: money may be lost or all payouts are paused. `info`: strangers can cause it, and nothing is owed.
  severity text not null generated always as (case
    when subject = 'journal:size' then 'info'
    when split_part(subject, ':', 1) in ('intrusion', 'database', 'journal', 'release', 'ledger', 'difference', 'reorg', 'reversed',
      'payee')
      then 'critical'
    when split_part(subject, ':', 1) in ('stray', 'burnt', 'limit-used') then 'info'
    else 'warning' end) stored,
  alarm text not null,
  detail jsonb not null default '{}',
  raised_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  -- Somebody works on it: it stays open, and is not counted as new.
  acknowledged_by text,
  acknowledged_at timestamptz,
  check ((acknowledged_by is null) = (acknowledged_at is null))
);
create index alarms_by_age on alarms (raised_at desc);

-- Consecutive failures of one job over all processes, not counting an unreachable node or database. A success deletes
-- the row.
create table job_failures (
  kind text not null,
  id text not null,
  failures int not null default 1,
  error text not null,
  first_at timestamptz not null default clock_timestamp(),
  last_at timestamptz not null default clock_timestamp(),
  primary key (kind, id)
);

-- Work that one process does for all of them, at most once in an interval, and its result.
create table turns (
  name text primary key,
  at timestamptz not null default clock_timestamp(),
  result jsonb
) with (fillfactor = 50);
