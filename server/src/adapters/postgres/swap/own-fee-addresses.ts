import type {
  FeeAccounts,
  FeeAddressMail,
  FeeAddressRequest,
  OwnFeeAddress,
} from '../../../swap/ports/store/fee-accounts.ts'
import type { Database, Sql, Tx } from '../core/database.ts'

/** The address in effect at the time of the statement. */
const IN_EFFECT = 'case when f.next_from <= statement_timestamp() then f.next_address else f.address end'
const WAITING = 'f.next_from > statement_timestamp()'
/** Of `fee_addresses f`: the address in effect, and what waits. */
const COLUMNS = `f.network, ${IN_EFFECT} as address, case when ${WAITING} then f.next_address end as next,
  case when ${WAITING} then f.next_from end as "nextFrom"`

/** The fee addresses that partners set. */
export function createOwnFeeAddresses(
  database: Database,
): Pick<FeeAccounts, 'findAddress' | 'listAddresses' | 'requestAddress'> {
  return {
    async findAddress(partnerId, network) {
      const [row] = await database.query<{ address: string | null }>(
        `select ${IN_EFFECT} as address from fee_addresses f where f.partner_id = $1 and f.network = $2`,
        [partnerId, network],
      )
      return row?.address ?? null
    },
    async listAddresses(partnerId) {
      const rows = await database.query<FeeAddressRow>(
        `select ${COLUMNS} from fee_addresses f where f.partner_id = $1 order by f.network`,
        [partnerId],
      )
      return rows.map(toFeeAddress).filter(({ address, next }) => address !== null || next !== null)
    },
    requestAddress: (request) => database.transaction((tx) => requestAddress(tx, request)),
  }
}

/** By network; the partners of the page of a list. */
export async function listFeeAddresses(sql: Sql, partnerIds: readonly string[]) {
  const rows = await sql.query<FeeAddressRow & { partnerId: string }>(
    `select f.partner_id as "partnerId", ${COLUMNS} from fee_addresses f
     where f.partner_id = any($1) and coalesce(f.address, f.next_address) is not null order by f.network`,
    [partnerIds],
  )
  return rows.map(({ partnerId, ...row }) => ({ partnerId, ...toFeeAddress(row) }))
}

type FeeAddressRow = Readonly<{
  network: string
  address: string | null
  next: string | null
  nextFrom: Date | null
}>

const toFeeAddress = ({ network, address, next, nextFrom }: FeeAddressRow): OwnFeeAddress => ({
  ...{ network, address },
  next: next === null || nextFrom === null ? null : { address: next, from: nextFrom },
})

type Locked = FeeAddressRow & Readonly<{ email: string | null; retryAfterSeconds: number }>

async function requestAddress(tx: Tx, request: FeeAddressRequest): ReturnType<FeeAccounts['requestAddress']> {
  const { partnerId, network, address, everyMs } = request
  await tx.query('insert into fee_addresses (partner_id, network) values ($1, $2) on conflict do nothing', [
    partnerId,
    network,
  ])
  const [row] = await tx.query<Locked>(
    `select ${COLUMNS}, p.email,
       greatest(ceil(extract(epoch from f.asked_at - statement_timestamp()) + $3::float8 / 1000), 0)::int as "retryAfterSeconds"
     from fee_addresses f join partners p on p.id = f.partner_id where f.partner_id = $1 and f.network = $2 for update of f`,
    [partnerId, network, everyMs],
  )
  if (row === undefined) throw new Error(`the fee address of ${partnerId} on ${network} is missing`)
  // What takes nothing away from the partner is done at once.
  if (address === null || address === row.address) return withdraw(tx, request, row)
  if (address === row.next) return 'done'
  if (row.email === null) return 'no e-mail'
  if (request.mail === null && request.requiresMail) return 'no mail server'
  if (row.retryAfterSeconds > 0) return { retryAfterSeconds: row.retryAfterSeconds }
  const [set] = await tx.query<{ from: Date }>(
    `update fee_addresses set address = $3, next_address = $4, asked_by = $5, asked_at = clock_timestamp(),
       next_from = clock_timestamp() + $6::bigint * interval '1 millisecond'
     where partner_id = $1 and network = $2 returning next_from as from`,
    [partnerId, network, row.address, address, request.keyId, request.delayMs],
  )
  await announce(tx, request, row.email, set === undefined ? null : { address, from: set.from })
  return 'done'
}

async function withdraw(tx: Tx, request: FeeAddressRequest, row: Locked): Promise<'done'> {
  const { partnerId, network, address } = request
  if (row.next === null && row.address === address) return 'done'
  // `asked_at` stays, so that a new address cannot be asked for again and again.
  await tx.query(
    `update fee_addresses set address = $3, next_address = null, next_from = null where partner_id = $1 and network = $2`,
    [partnerId, network, address],
  )
  await announce(tx, request, row.email, null)
  return 'done'
}

async function announce(
  tx: Tx,
  { network, mail }: FeeAddressRequest,
  email: string | null,
  next: Parameters<FeeAddressMail>[1],
): Promise<void> {
  if (email === null || mail === null) return
  const { subject, body } = mail(network, next)
  await tx.query('insert into mails (recipient, subject, body) values ($1, $2, $3)', [email, subject, body])
}
