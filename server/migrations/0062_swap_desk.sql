-- Where partners take their referrer fees, what the operator holds of them, and answers to repeated requests.

create table fee_addresses (
  partner_id uuid not null references partners,
  network text not null,
  address text not null,
  primary key (partner_id, network)
);

-- A fee that was paid to the operator for a partner without an address: one row a swap, once its block is final.
create table owed_fees (
  swap_id uuid primary key references swaps,
  partner_id uuid not null,
  network text not null,
  token text not null,
  units units not null check (units > 0),
  at timestamptz not null default clock_timestamp()
);
create index owed_fees_of_partner on owed_fees (partner_id, network, token);

create table kept_answers (
  partner_id uuid not null,
  key text not null check (length(key) between 1 and 255),
  request_hash text not null,
  answer text not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (partner_id, key)
);
create index kept_answers_by_age on kept_answers (created_at);
