import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import pg from 'pg'
import { formatApiKey } from '../server/src/core/domain/api-key.ts'
import { scopes } from '../server/src/core/domain/partner.ts'
import { hashSecret } from '../server/src/core/services/partner-keys.ts'

/** The network of the seeded exchanges' deposits. */
export const SEEDED_NETWORK = 'eth'

/** The partner whose API key the requests have. */
export const PARTNER = 'bench'

/** Secrets of the servers under test are hashed and encrypted with it. */
export const PEPPER = 'a pepper of the benchmarks, long enough'

export async function runStatements(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

const keyOf = (n: number) => formatApiKey('live', Buffer.alloc(6, n), Buffer.alloc(32, n), crc32)
export const API_KEY = keyOf(0).text

/** A rate limit that no load reaches, so that each request is counted and none is refused. */
const RATE_LIMIT_PER_MINUTE = 10_000_000
const OPEN_EXCHANGES_MAX = 1_000_000
/** `partners.feeBps` of the example. */
const FEE_BPS = 20

export type SeededPartner = Readonly<{ id: string; key: string }>

/** Inserts the partner of the requests with its key, or the n-th of further ones. */
export async function seedPartner(ownerUrl: string, n = 0): Promise<SeededPartner> {
  const { keyId, secret, text } = keyOf(n)
  const client = new pg.Client({ connectionString: ownerUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ id: string }>(
      `with p as (insert into partners (id, name, rate_limit_per_minute, open_exchanges_max, fee_bps)
           values (gen_random_uuid(), $1, $2, $3, $4) returning id),
         k as (insert into api_keys (id, partner_id, scopes, created_by) select $5, id, $6, 'bench' from p)
       select id from p`,
      [n === 0 ? PARTNER : `partner ${n}`, RATE_LIMIT_PER_MINUTE, OPEN_EXCHANGES_MAX, FEE_BPS, keyId, scopes],
    )
    const hmac = hashSecret(secret, Buffer.from(PEPPER))
    await client.query('insert into key_secrets (key_id, hmac) values ($1, $2)', [keyId, hmac])
    return { id: rows[0]?.id ?? '', key: text }
  } finally {
    await client.end()
  }
}

const LEGS =
  '[{"from":{"id":"eth@eth","ticker":"eth","network":"eth","decimals":18,"contract":null},"to":{"id":"btc@btc","ticker":"btc","network":"btc","decimals":8,"contract":null}}]'

/** SQL of an id that grows with n, like the UUIDv7 of real exchanges (RFC 9562). */
const id = (n: string) => `('01900000-0000-7000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`
export const exchangeId = (n: number): string => `01900000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
/** SQL of a hash-like address. */
const address = (n: string) => `'0x' || md5(${n}::text) || substr(md5('x' || ${n}), 1, 8)`
const md5 = (text: string) => createHash('md5').update(text).digest('hex')
export const seededDepositAddress = (n: number): string => `0x${md5(String(n))}${md5(`x${n}`).slice(0, 8)}`

/**
 * Inserts `count` finished exchanges of the partner, each with a deposit address, a swept deposit and a paid execution. Foreign keys
 * are dropped during the inserts and checked once at the end.
 */
export function seedStatements(count: number): string[] {
  const toExchanges = 'foreign key (exchange_id) references exchanges'
  const series = `generate_series(1, ${count}) as n`
  return [
    'set synchronous_commit = off',
    // An empty copy of the exchanges table, for the bare insert.
    'create table bare_exchanges (like exchanges including all)',
    'alter table deposit_targets drop constraint deposit_targets_exchange_id_fkey',
    'alter table deposits drop constraint deposits_exchange_id_fkey',
    'alter table executions drop constraint executions_exchange_id_fkey, drop constraint executions_deposit_id_fkey',
    `insert into exchanges (id, partner_id, type, flow, from_currency, from_network, to_currency, to_network, legs, from_units, to_units,
       recipient_address, refund_address, partner_fee_bps, status, created_at, expires_at)
     select ${id('n')}, p.id, 'standard', 'standard', 'eth', '${SEEDED_NETWORK}', 'btc', 'btc', '${LEGS}', 1000000000000000000 + n, 3500000 + n,
       'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', ${address("'r' || n")}, 0, 'finished',
       now() - interval '30 days' + n * interval '1 second', now() + n * interval '1 second'
     from ${series}, partners p where p.name = '${PARTNER}'`,
    `insert into deposit_targets (exchange_id, leg, network, address, key_index)
     select ${id('n')}, 0, '${SEEDED_NETWORK}', ${address('n')}, n + ${count} from ${series}`,
    `insert into deposits (id, network, identity, tx_hash, exchange_id, leg, address, key_index, asset_id, units, sender, block_height,
       block_hash, required_confirmations, status, credited_units, credits, swept_by)
     overriding system value
     select n, '${SEEDED_NETWORK}', 'in' || n, 'in' || n, ${id('n')}, 0, ${address('n')}, n + ${count}, 'eth@eth',
       1000000000000000000 + n, ${address("'s' || n")}, 1 + n / 100, md5('block' || n / 100), 12, 'credited',
       1000000000000000000 + n, 1, ${id('n')}
     from ${series}`,
    `insert into executions (id, exchange_id, deposit_id, leg, status, received_units, due_units, rate_kind, sent_units, payin_hash, payout_hash)
     select ${id('n')}, ${id('n')}, n, 0, 'finished', 1000000000000000000 + n, 3500000, 'floating', 3500000, 'in' || n, 'out' || n from ${series}`,
    `alter table deposit_targets add ${toExchanges}`,
    `alter table deposits add ${toExchanges}`,
    `alter table executions add ${toExchanges}, add foreign key (deposit_id) references deposits`,
    `select setval('deposit_key_index', ${2 * count + 1})`,
    `alter table deposits alter column id restart with ${count + 1}`,
    'vacuum analyze',
  ]
}
