-- A network has one hot wallet, whichever key of the hot branch is its own.
create unique index house_addresses_hot on house_addresses (network) where branch = 'hot';
