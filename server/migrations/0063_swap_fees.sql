-- Referrer fees that the chain paid to the operator, for partners without an address, stand in the ledger (decision 0059).
-- What is booked of a swap now, in which asset, and how often something was: a reorganisation takes it back.

alter table swaps add column fee_asset text;
alter table swaps add column fee_units units;
alter table swaps add column fee_bookings int not null default 0 check (fee_bookings >= 0);
alter table swaps add check ((fee_asset is null) = (fee_units is null));
alter table swaps add check (fee_units is null or (owes_fee and fee_units > 0 and fee_bookings > 0 and status = 'finished'));
create index swaps_with_fee on swaps (fee_asset) where fee_asset is not null;

-- On Celo the coin is its own token.
update swaps s set fee_units = o.units, fee_bookings = 1,
  fee_asset = case when o.network = 'celo' and o.token = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'
    then '0x471ece3750da237f93b8e339c536989b8978a438' else o.token end || '@' || o.network
from owed_fees o where o.swap_id = s.id;

insert into journal (id, event, at)
select 'swap:' || s.id || ':fee:1', 'swap fee', o.at from swaps s join owed_fees o on o.swap_id = s.id
union all
select 'swap:' || s.id || ':fee:1:final', 'swap fee final', o.at from swaps s join owed_fees o on o.swap_id = s.id;

insert into postings (journal_id, position, debit, credit, asset_id, units)
select 'swap:' || id || ':fee:1', 0, 'asset:fees:' || fee_to, 'liability:swap:' || id, fee_asset, fee_units
from swaps where fee_units is not null
union all
select 'swap:' || id || ':fee:1:final', 0, 'liability:swap:' || id, 'liability:partner:' || partner_id, fee_asset, fee_units
from swaps where fee_units is not null;

drop table owed_fees;
