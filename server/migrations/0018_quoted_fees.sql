-- What the create stated about the price, in units of the target. A deposit in time is converted at its fixed rate without a live
-- price, and its fees are booked by these. Null: exchanges without a fixed rate, and those of an earlier version.
alter table exchanges
  -- Value of `from_units` at the reference rate, before all fees.
  add column quoted_gross_units units,
  add column quoted_network_units units,
  add constraint exchanges_quoted_both check ((quoted_gross_units is null) = (quoted_network_units is null));
