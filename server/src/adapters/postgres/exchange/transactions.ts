import type { SignIntent } from '../../../exchange/ports/signer.ts'
import type { KeyPath, Utxo } from '../../../exchange/ports/spend.ts'
import type {
  Attempt,
  OutgoingTransaction,
  SpendDepths,
  TransactionOutcome,
  TransactionStore,
} from '../../../exchange/ports/store/transactions.ts'
import { blockOrNull, hasRow, type RowOf, type Sql } from '../core/database.ts'
import { fromIntentJson, toIntentJson } from './intent-json.ts'
import { createLanes } from './nonce-lanes.ts'
import { toUtxo, type UtxoRow } from './rows.ts'

type Row = Omit<OutgoingTransaction, 'from' | 'head' | 'attempts' | 'state'> & {
  /** The table has another name for `invalidated`. */
  state: Exclude<OutgoingTransaction['state'], 'invalidated'> | 'expired'
  branch: KeyPath['branch']
  keyIndex: string
  head: string | null
}
type AttemptRow = RowOf<Omit<Attempt, 'intent' | 'block'>, 'feeUnits'> & {
  intent: unknown
  height: string | null
  hash: string | null
}

/** Unmined transactions with later nonces of the same wallet, signed some milliseconds ago or earlier. */
const LATER_NONCES = `
select 1 from transactions t join transactions o on o.network = t.network and o.wallet = t.wallet and o.state = 'live'
where t.id = $1 and split_part(o.conflict_key, ':', 2)::bigint > split_part(t.conflict_key, ':', 2)::bigint
  and o.created_at < clock_timestamp() - $2::bigint * interval '1 millisecond' limit 1`

export function createTransactionStore(sql: Sql, locking: boolean): TransactionStore {
  return {
    ...createLanes(sql),
    listSpendable: (network, depths, limit) => listSpendable(sql, network, depths, limit),
    listSmall: (network, depths, units, limit) => listSmall(sql, network, depths, units, limit),
    reserveOwnOutput: (id, outpoint) => reserveOwnOutput(sql, id, outpoint),
    async nextChangeIndex() {
      const [row] = await sql.query<{ index: string }>("select nextval('change_key_index') as index")
      return Number(row?.index ?? 0)
    },
    async registerChange(network, index, address) {
      await sql.query(
        "insert into house_addresses (network, address, branch, key_index) values ($1, $2, 'change', $3) on conflict do nothing",
        [network, address, index],
      )
    },
    async insert({ id, network, from, wallet, conflictKey, resources, nonce }) {
      await sql.query(
        `insert into transactions (id, network, wallet, branch, key_index, conflict_key, resources, next_check_at)
         values ($1, $2, $3, $4, $5, $6, $7, clock_timestamp())`,
        [id, network, wallet, from.branch, from.index, conflictKey, resources],
      )
      if (nonce !== null)
        await sql.query(
          `update nonce_lanes set next = greatest(next, $3::bigint + 1), gap = nullif(gap, $3::bigint)
           where network = $1 and address = $2`,
          [network, wallet, nonce],
        )
    },
    addAttempt: (transactionId, attempt) => addAttempt(sql, transactionId, attempt),
    load: (id) => load(sql, id, locking),
    findInvalidated: (network, txHashes) => findInvalidated(sql, network, txHashes),
    hasNonceWaited: (id, waitedMs) => hasRow(sql, LATER_NONCES, [id, waitedMs]),
    async unpaidFees(network, wallet) {
      const [row] = await sql.query<{ units: string }>(
        `select coalesce(sum(f.units), 0) as units from transactions t
         cross join lateral (select max(a.fee_units) as units from attempts a where a.transaction_id = t.id) f
         where t.network = $1 and t.wallet = $2 and t.state = 'live'`,
        [network, wallet],
      )
      return BigInt(row?.units ?? 0)
    },
    async quarantine(network, outpoints) {
      await sql.query('update coins set quarantined = true where network = $1 and outpoint = any($2::text[])', [
        network,
        outpoints,
      ])
    },
    releaseQuarantined: (network, outpoint) =>
      hasRow(
        sql,
        'update coins set quarantined = false where network = $1 and outpoint = $2 and quarantined returning 1',
        [network, outpoint],
      ),
    settle: (id, outcome) => settle(sql, id, outcome),
  }
}

/**
 * UTXOs that may be spent. Change of a transaction with a single attempt needs less depth: only we could replace it, and we do
 * not while its change is spent (`reserveOwnOutput`). With several attempts, a reorganisation could mine another of them.
 */
const SPENDABLE = `select c.outpoint, c.units, c.branch, c.key_index from coins c
  left join deposits d on d.id = c.deposit_id
  join cursors k on k.network = c.network
  where c.network = $1 and c.reserved_by is null and c.spent_by is null and not c.quarantined
    and (c.deposit_id is null or d.status = 'credited')
    and (c.block_height <= k.height - $2 + 1 or (c.deposit_id is null and c.block_height <= k.height - $3 + 1
      and (select count(*) from attempts o where o.transaction_id = (
        select a.transaction_id from attempts a where a.network = c.network and a.tx_hash = split_part(c.outpoint, ':', 1))) = 1))`

/** Largest first: dust that others send cannot crowd out the useful UTXOs. */
async function listSpendable(
  sql: Sql,
  network: string,
  { others, own }: SpendDepths,
  limit: number,
): Promise<readonly Utxo[]> {
  const rows = await sql.query<UtxoRow>(
    `${SPENDABLE} order by c.units desc, c.block_height, c.outpoint limit $4 for update of c skip locked`,
    [network, others, own, limit],
  )
  return rows.map(toUtxo)
}

async function listSmall(
  sql: Sql,
  network: string,
  { others, own }: SpendDepths,
  { min, max }: Readonly<{ min: bigint; max: bigint }>,
  limit: number,
): Promise<readonly Utxo[]> {
  const rows = await sql.query<UtxoRow>(
    `${SPENDABLE} and c.units between $5::numeric and $6::numeric
     order by c.units, c.block_height desc, c.outpoint limit $4 for update of c skip locked`,
    [network, others, own, limit, min, max],
  )
  return rows.map(toUtxo)
}

async function reserveOwnOutput(sql: Sql, id: string, outpoint: string): Promise<boolean> {
  await sql.query(
    `update coins c set reserved_by = t.id from transactions t
     where t.id = $1 and c.network = t.network and c.outpoint = $2 and c.reserved_by is null and c.spent_by is null`,
    [id, outpoint],
  )
  const isTaken = await hasRow(
    sql,
    `select 1 from coins c join transactions t on t.id = $1 and t.network = c.network
     where c.outpoint = $2 and (c.spent_by is not null or c.reserved_by <> t.id)`,
    [id, outpoint],
  )
  return !isTaken
}

async function addAttempt(
  sql: Sql,
  transactionId: string,
  attempt: { txHash: string; raw: string; intent: SignIntent; feeUnits: bigint; outpoints: readonly string[] },
): Promise<void> {
  await sql.query("update attempts set state = 'replaced' where transaction_id = $1 and state = 'signed'", [
    transactionId,
  ])
  await sql.query(
    `insert into attempts (transaction_id, conflict_key, network, tx_hash, raw, intent, fee_units)
     select id, conflict_key, network, $2, $3, $4, $5 from transactions where id = $1`,
    [transactionId, attempt.txHash, attempt.raw, JSON.stringify(toIntentJson(attempt.intent)), attempt.feeUnits],
  )
  if (attempt.outpoints.length === 0) return
  await sql.query(
    'update coins c set reserved_by = $1 from transactions t where t.id = $1 and c.network = t.network and c.outpoint = any($2::text[])',
    [transactionId, attempt.outpoints],
  )
}

async function load(sql: Sql, id: string, locking: boolean): Promise<OutgoingTransaction | null> {
  const [row] = await sql.query<Row>(
    `select t.id, t.network, t.wallet, t.branch, t.key_index as "keyIndex", t.conflict_key as "conflictKey", t.state,
       t.created_at as "createdAt", t.conflicting_tx_hash as "conflictingTxHash", t.fundings as "fundingTransactions", clock_timestamp() as now,
       (select k.height from cursors k where k.network = t.network) as head
     from transactions t where t.id = $1${locking ? ' for no key update' : ''}`,
    [id],
    locking ? 'lock-transaction' : 'find-transaction',
  )
  if (!row) return null
  const attempts = await sql.query<AttemptRow>(
    `select id, tx_hash as "txHash", raw, intent, fee_units as "feeUnits", state, block_height as height, block_hash as hash,
       created_at as "createdAt", sent_at is not null as sent from attempts where transaction_id = $1 order by id`,
    [id],
    'attempts-of-transaction',
  )
  const { branch, keyIndex, head, state, ...transaction } = row
  return {
    ...transaction,
    state: state === 'expired' ? 'invalidated' : state,
    from: { branch, index: Number(keyIndex) },
    head: head === null ? null : Number(head),
    attempts: attempts.map(toAttempt),
  }
}

async function findInvalidated(
  sql: Sql,
  network: string,
  txHashes: readonly string[],
): ReturnType<TransactionStore['findInvalidated']> {
  const [row] = await sql.query<{ id: string; proof: Record<string, unknown>; conflictingTxHash: string | null }>(
    `select t.id, t.proof, coalesce(jsonb_path_query_first(t.proof, '$.proof[*].spentBy'),
       jsonb_path_query_first(t.proof, '$.proof[*].conflictingTxHash')) #>> '{}' as "conflictingTxHash"
     from attempts a join transactions t on t.id = a.transaction_id
     where a.network = $1 and a.tx_hash = any($2::text[]) and t.state = 'expired' limit 1`,
    [network, txHashes],
  )
  const transaction = row ? await load(sql, row.id, false) : null
  return row && transaction ? { transaction, proof: row.proof, conflictingTxHash: row.conflictingTxHash } : null
}

function toAttempt({ intent, feeUnits, height, hash, ...attempt }: AttemptRow): Attempt {
  return {
    ...attempt,
    intent: fromIntentJson(intent),
    feeUnits: BigInt(feeUnits),
    block: blockOrNull(height, hash),
  }
}

async function settle(sql: Sql, id: string, outcome: TransactionOutcome): Promise<void> {
  switch (outcome.kind) {
    case 'check':
      await sql.query(
        "update transactions set next_check_at = $2 where id = $1 and state in ('live', 'confirmed')",
        [id, outcome.at],
        'check-transaction-at',
      )
      if (outcome.sentAttemptId !== null) {
        await sql.query(
          'update attempts set sent_at = coalesce(sent_at, clock_timestamp()) where id = $1',
          [outcome.sentAttemptId],
          'save-sent-at',
        )
      }
      return
    case 'confirmed':
      await sql.query(
        "update attempts set state = 'replaced' where transaction_id = $1 and state = 'confirmed' and id <> $2",
        [id, outcome.attemptId],
      )
      await sql.query("update attempts set state = 'confirmed' where id = $1", [outcome.attemptId])
      await sql.query("update transactions set state = 'confirmed', next_check_at = $2 where id = $1", [
        id,
        outcome.checkAt,
      ])
      return
    case 'final':
      await sql.query("update transactions set state = 'final', next_check_at = null where id = $1", [id])
      // Releases the UTXOs that only an earlier attempt would have spent, once the others are recorded as spent. The block of an
      // imported attempt is not recorded, if the watcher had passed it before.
      await sql.query(
        `update coins set reserved_by = null where reserved_by = $1 and spent_by is null and exists (
           select 1 from attempts a where a.transaction_id = $1 and a.state = 'confirmed' and (a.block_height is not null
             or exists (select 1 from coins s where s.reserved_by = $1 and s.spent_by = a.tx_hash)))`,
        [id],
      )
      return
    case 'invalidated':
      await sql.query("update attempts set state = 'replaced' where transaction_id = $1", [id])
      await sql.query("update transactions set state = 'expired', proof = $2, next_check_at = null where id = $1", [
        id,
        JSON.stringify(outcome.proof),
      ])
      await sql.query('update coins set reserved_by = null where reserved_by = $1', [id])
      return
  }
}
