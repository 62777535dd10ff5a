-- Operators of the admin API: identities, second factors, sessions, requests for acts, and the indexes of its lists.

create table operators (
  id uuid primary key,
  -- An e-mail address or another name, in lower case.
  login text not null unique check (login = lower(login) and length(login) between 1 and 100),
  role text not null check (role in ('viewer', 'support', 'treasurer', 'admin')),
  -- scrypt with its parameters; null = the invitation was not accepted yet.
  password_hash text,
  -- AES-256-GCM under a key derived from the pepper; null = no authenticator app.
  totp_secret bytea,
  -- The time step of the last accepted code: no code is accepted twice.
  totp_step int not null default 0,
  disabled_at timestamptz,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  last_login_at timestamptz
);

-- Each replaces a second factor once.
create table operator_recovery_codes (
  operator_id uuid not null references operators,
  -- SHA-256: a code has 100 random bits.
  hash bytea not null,
  used_at timestamptz,
  primary key (operator_id, hash)
);

create table operator_passkeys (
  -- The id of the credential, base64url.
  id text primary key,
  operator_id uuid not null references operators,
  public_key bytea not null,
  -- The signature counter of the authenticator; 0 = it has none.
  counter bigint not null,
  transports text[] not null default '{}',
  name text not null,
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz
);
create index operator_passkeys_of_operator on operator_passkeys (operator_id);

-- Links that set a password and a second factor. Used once.
create table operator_invitations (
  -- SHA-256 of the token.
  hash bytea primary key,
  operator_id uuid not null references operators,
  -- The secret of the authenticator app that is shown at first, encrypted like that of an operator.
  totp_secret bytea not null,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  used_at timestamptz
);
create index operator_invitations_of_operator on operator_invitations (operator_id);

-- Challenges of passkeys. Used once.
create table operator_challenges (
  id uuid primary key,
  challenge text not null,
  -- Null = a login, whose operator the passkey names.
  operator_id uuid references operators,
  expires_at timestamptz not null
);
create index operator_challenges_by_age on operator_challenges (expires_at);

create table operator_sessions (
  id uuid primary key,
  -- SHA-256 of the token, which is stored nowhere.
  hash bytea not null unique,
  operator_id uuid not null references operators,
  -- A cookie of a browser, or a bearer token of the command line.
  kind text not null check (kind in ('cookie', 'bearer')),
  ip text not null,
  user_agent text not null,
  created_at timestamptz not null default clock_timestamp(),
  -- Rounded to the minute.
  last_used_at timestamptz not null default clock_timestamp(),
  -- When a second factor was last given.
  confirmed_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index operator_sessions_of_operator on operator_sessions (operator_id, created_at desc);
create index operator_sessions_by_age on operator_sessions (created_at desc, id desc);

-- Failed logins by login and network of the client, over all processes.
create table operator_login_failures (
  key text primary key,
  failures int not null,
  blocked_until timestamptz not null,
  last_at timestamptz not null default clock_timestamp()
);
create index operator_login_failures_by_age on operator_login_failures (last_at);

-- Acts that need a second person: asked by one operator, approved by another. The act is carried out in the transaction that
-- sets the state `done`.
create table operator_requests (
  id uuid primary key,
  action text not null,
  arguments jsonb not null,
  reason text not null check (reason <> ''),
  state text not null default 'asked' check (state in ('asked', 'done', 'failed', 'rejected', 'withdrawn')),
  asked_by uuid not null references operators,
  asked_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  decided_by uuid references operators,
  decided_at timestamptz,
  -- What the act answered, or why it was refused.
  result jsonb,
  check ((state = 'asked') = (decided_at is null)),
  check ((decided_at is null) = (decided_by is null)),
  -- The second person is another one.
  constraint operator_requests_two_persons check (state not in ('done', 'failed') or decided_by <> asked_by)
);
create index operator_requests_by_age on operator_requests (asked_at desc, id desc);
create index operator_requests_open on operator_requests (asked_at desc, id desc) where state = 'asked';

-- What was asked never changes, and a decision is final.
create function check_request_update() returns trigger language plpgsql as $$
begin
  if old.state <> 'asked' or (new.id, new.action, new.arguments, new.reason, new.asked_by, new.asked_at, new.expires_at)
    is distinct from (old.id, old.action, old.arguments, old.reason, old.asked_by, old.asked_at, old.expires_at) then
    raise exception 'a request is decided once, and its terms never change' using errcode = '23514';
  end if;
  return new;
end $$;
create trigger operator_request_update before update on operator_requests
  for each row execute function check_request_update();
create trigger operator_requests_stay before delete on operator_requests for each row execute function forbid_change();

-- Pages of the admin API continue after the last row of the page before.
create index exchanges_by_age on exchanges (created_at desc, id desc);
create index exchanges_in_status on exchanges (status, created_at desc, id desc);
create index exchanges_by_amount on exchanges (from_currency, from_network, from_units, created_at desc, id desc);
create index exchanges_to_recipient on exchanges using hash (recipient_address);
create index payouts_by_age on payouts (created_at desc, id desc);
create index payouts_of_exchange on payouts (exchange_id, created_at) where exchange_id is not null;
create index payouts_in_state on payouts (state, created_at desc, id desc);
create index swaps_by_age on swaps (created_at desc, id desc);
create index swaps_in_status on swaps (status, created_at desc, id desc);
create index deposits_unclaimed_by_id on deposits (id) where unclaimed;
create index executions_failed on executions (deposit_id) where status = 'failed';
create index operator_acts_of_actor on operator_acts (actor, id);
