import type { Database } from '../../../src/adapters/postgres/core/database.ts'

/** Postings of each finished exchange. */
export const POSTINGS_PER_EXCHANGE = 8

/** The units of each exchange: what arrives in satoshi, and what is sent, earned and paid for it in wei. */
const [ARRIVES, SENT, SPREAD, CHARGED_FEE, PAID_FEE] = [5, 1, 3, 2, 1]

/** Entries as SQL: id, event, exchange and the postings in order. `n` numbers the exchanges in the order of their time. */
const entries: readonly Readonly<{ id: string; event: string; ofExchange: boolean; postings: readonly string[] }>[] = [
  {
    id: `'deposit:' || deposit_id || ':credit:1'`,
    event: 'deposit',
    ofExchange: true,
    postings: [`'asset:wallet', owed, 'btc@btc', ${ARRIVES}`],
  },
  {
    id: `'order:' || order_id || ':filled'`,
    event: 'conversion',
    ofExchange: true,
    postings: [
      `owed, 'equity:inventory', 'btc@btc', ${ARRIVES}`,
      `'equity:inventory', owed, 'eth@eth', ${SENT}`,
      `'equity:inventory', 'income:spread', 'eth@eth', ${SPREAD}`,
      `'equity:inventory', 'income:network-fee', 'eth@eth', ${CHARGED_FEE}`,
    ],
  },
  {
    id: `'payout:' || payout_id || ':signed:' || transaction_id`,
    event: 'payout signed',
    ofExchange: true,
    postings: [`'asset:outgoing', 'asset:wallet', 'eth@eth', ${SENT}`],
  },
  {
    id: `'payout:' || payout_id || ':sent:' || transaction_id`,
    event: 'payout sent',
    ofExchange: true,
    postings: [`owed, 'asset:outgoing', 'eth@eth', ${SENT}`],
  },
  {
    id: `'transaction:' || transaction_id || ':fee'`,
    event: 'network fee',
    ofExchange: false,
    postings: [`'expense:network-fee', 'asset:wallet', 'eth@eth', ${PAID_FEE}`],
  },
]

/**
 * The ledger of the finished exchanges of `seedAdminRows`, and the funding that pays them. Balances are inserted at the end: the trigger
 * that adds each posting to them would take most of the time.
 */
export async function seedLedgerRows(database: Database): Promise<void> {
  await database.transaction(
    async (tx) => {
      for (const table of ['journal', 'postings', 'balances'])
        await tx.query(`alter table ${table} disable trigger user`)
      await tx.query(`create temporary table paid on commit drop as
        select row_number() over (order by e.created_at) as n, e.created_at as at, e.id as exchange_id, 'liability:exchange:' || e.id as owed,
          x.deposit_id, x.order_id, p.id as payout_id, p.transaction_id
        from exchanges e join executions x on x.exchange_id = e.id join payouts p on p.execution_id = x.id
        where e.status = 'finished' and p.state = 'confirmed'`)
      await tx.query(
        `insert into journal (id, event, at) select 'deposit:0:funding:1', 'funding', coalesce(min(at), now()) from paid`,
      )
      await tx.query(`insert into postings (journal_id, position, debit, credit, asset_id, units)
        select 'deposit:0:funding:1', 0, 'asset:wallet', 'equity:capital', 'eth@eth', ${SENT + PAID_FEE} * count(*) + ${10n ** 18n} from paid`)
      for (const { id, event, ofExchange, postings } of entries) {
        await tx.query(`insert into journal (id, event, exchange_id, at)
          select ${id}, '${event}', ${ofExchange ? 'exchange_id' : 'null'}, at from paid order by n`)
        for (const [position, posting] of postings.entries())
          await tx.query(`insert into postings (journal_id, position, debit, credit, asset_id, units)
            select ${id}, ${position}, ${posting} from paid order by n`)
      }
      await tx.query(`insert into balances (account, asset_id, units)
        select account, asset_id, sum(units) from (
          select debit as account, asset_id, units from postings union all select credit, asset_id, -units from postings) changes
        group by 1, 2 having sum(units) <> 0 on conflict (account, asset_id) do update set units = excluded.units`)
      for (const table of ['journal', 'postings', 'balances'])
        await tx.query(`alter table ${table} enable trigger user`)
    },
    { statementTimeoutMs: 600_000 },
  )
  await database.query('analyze journal, postings, balances')
}
