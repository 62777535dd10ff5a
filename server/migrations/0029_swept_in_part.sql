-- After a reorganisation a deposit may return with more units than its signed sweep takes (EVM). Another sweep takes the rest.
alter table deposits
  -- Units that the sweep in `swept_by` takes of it; null = it has no sweep, or one that an earlier version planned.
  add column swept_units units,
  -- Units that final sweeps took of it before; null = none.
  add column swept_before units;
create index deposits_swept_in_part on deposits (network, id) where status = 'credited' and credited_units > swept_units;
