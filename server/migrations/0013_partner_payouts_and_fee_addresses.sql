-- What partners set about the fees that they earn, and their ids of swaps from the build on.

-- The partner's own id that a build of a swap named, until the swap gets its row. Deleted after 30 days.
create table built_external_ids (
  -- The reference in the transaction of the swap.
  ref text primary key,
  partner_id uuid not null,
  external_id text not null check (length(external_id) between 1 and 64),
  built_at timestamptz not null default clock_timestamp()
);
create index built_external_ids_by_age on built_external_ids (built_at);
