import { createHash } from 'node:crypto'
import pg from 'pg'

/** The network of the seeded exchanges' deposits. */
export const SEEDED_NETWORK = 'eth'

/** The partner whose API key the requests have. */
export const PARTNER = 'sandbox'

/** Secrets of the servers under test are hashed and encrypted with it. */
export const PEPPER = 'a pepper of the benchmarks, long enough'

/** Creates an empty database on the cluster. The first app that opens it migrates it. */
export async function createDatabase(clusterUrl: string, name: string): Promise<string> {
  await runStatements(clusterUrl, [`create database ${name}`])
  const url = new URL(clusterUrl)
  url.pathname = `/${name}`
  return url.href
}

export async function runStatements(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

export async function readPostgresVersion(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ server_version: string }>('show server_version')
    return rows[0]?.server_version ?? 'unknown'
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
    'alter table deposit_targets drop constraint deposit_targets_exchange_id_fkey',
    'alter table deposits drop constraint deposits_exchange_id_fkey',
    'alter table executions drop constraint executions_exchange_id_fkey, drop constraint executions_deposit_id_fkey',
    `insert into exchanges (id, partner_id, type, flow, from_currency, from_network, to_currency, to_network, legs, from_units, to_units,
       recipient_address, refund_address, partner_fee_bps, status, created_at, expires_at)
     select ${id('n')}, p.id, 'standard', 'standard', 'eth', '${SEEDED_NETWORK}', 'btc', 'btc', '${LEGS}', 1000000000000000000 + n, 3500000 + n,
       'bcrt1qq2yshcmzdlznnpxx258xswqlmqcxjs4dssfxt2', ${address("'r' || n")}, 0, 'finished',
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

/** A rate limit that no load reaches, so that each request is counted and none is refused. */
export const RATE_LIMIT_PER_MINUTE = 10_000_000
export const rateLimitStatements = [`update partners set rate_limit_per_minute = ${RATE_LIMIT_PER_MINUTE}`]

/** An empty copy of the exchanges table, for the bare insert. */
export const bareTableStatements = ['create table if not exists bare_exchanges (like exchanges including all)']
