-- A nonce below `next` that no transaction has and that the chain expects next: the lane's next transaction takes it (I-26).
alter table nonce_lanes add column gap bigint check (gap >= 0 and gap < next);
create index nonce_gaps on nonce_lanes (network) where gap is not null;

-- A lane that fell back would use nonces twice.
create function check_nonce_lane_update() returns trigger language plpgsql as $$
begin
  if new.next < old.next then
    raise exception 'the next nonce of % on % fell from % to %', old.address, old.network, old.next, new.next using errcode = '23514';
  end if;
  return new;
end $$;
create trigger nonce_lanes_update before update on nonce_lanes for each row execute function check_nonce_lane_update();
