-- Whether the holder of a tracking link may name a missing refund address.
alter table partners add column refund_by_link boolean not null default true;
