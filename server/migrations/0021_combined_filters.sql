-- Lists of the admin API with two filters. The list without a filter merges the ranges of `exchanges_in_status` and `swaps_in_status`,
-- so an index by age alone is redundant.
create index exchanges_of_partner_in_status on exchanges (partner_id, status, created_at desc, id desc);
create index exchanges_of_currency_in_status on exchanges (from_currency, from_network, status, created_at desc, id desc);
drop index exchanges_by_age;
create index swaps_of_partner_in_status on swaps (partner_id, status, created_at desc, id desc);
drop index swaps_by_age;
create index operator_acts_of_actor_about on operator_acts (actor, subject, id);
