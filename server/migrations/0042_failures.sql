-- Steps that failed for another reason than that somebody was away: how often in a row, over all processes.
create table job_failures (
  kind text not null,
  id text not null,
  failures int not null default 1,
  error text not null,
  first_at timestamptz not null default clock_timestamp(),
  last_at timestamptz not null default clock_timestamp(),
  primary key (kind, id)
);

-- What is open and has not moved is asked for twice a minute.
create index executions_open on executions (status, updated_at) where status not in ('finished', 'failed', 'refunded');
create index transactions_open on transactions (created_at) where state in ('live', 'confirmed');
