-- Approvals that were handed out with swaps: no other amount is broadcast.

create table built_approvals (
  partner_id uuid not null,
  network text not null,
  account text not null,
  token text not null,
  units units not null check (units > 0),
  built_at timestamptz not null default clock_timestamp(),
  primary key (partner_id, network, account, token, units)
);
create index built_approvals_by_age on built_approvals (built_at);
