-- Rolling limits of recipients (I-24): scopes `recipient:<network>:<address>`. There is one for each customer, most of them with a
-- single payout, so their windows are added up from `outflows` and they have no sums.
create function is_outflow_summed(scope text) returns boolean language sql immutable as $$
  select scope !~ '^(refund:)?recipient:'
$$;

create or replace function sum_outflows() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    update outflow_sums s set usd = s.usd - r.usd from (
      select scope, begin_of_outflow_sum(at) as at, sum(usd) as usd from removed
      where is_outflow_summed(scope) group by 1, 2) r
    where s.scope = r.scope and s.at = r.at;
  end if;
  if tg_op <> 'DELETE' then
    insert into outflow_sums as s (scope, at, usd)
    select scope, begin_of_outflow_sum(at), sum(usd) from added where is_outflow_summed(scope) group by 1, 2
    on conflict (scope, at) do update set usd = s.usd + excluded.usd;
  end if;
  return null;
end $$;
