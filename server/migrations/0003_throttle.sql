-- What each partner or address has spent of its minute, over all processes. Unlogged: a crash forgives, and costs no WAL.
create unlogged table spent (
  key text not null,
  minute timestamptz not null,
  cost bigint not null,
  primary key (key, minute)
);
