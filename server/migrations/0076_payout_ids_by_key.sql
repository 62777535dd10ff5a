-- Ids of payouts are made with a key of the signer's (decision 0074). What left before has the id that everybody can compute:
-- a restored database recognises it by that.
create function plain_payout_id(network text, identity text, leg int, before bigint) returns text language sql immutable as $$
  select substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-8' || substr(h, 14, 3) || '-8' || substr(h, 18, 3) || '-' || substr(h, 21, 12)
  from encode(sha256(convert_to(
    '[' || to_json(network) || ',' || to_json(identity) || ',' || leg || ',' || to_json(before::text) || ']', 'UTF8')), 'hex') as h
$$;
