import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sqlState } from '../../../src/adapters/postgres/core/database.ts'
import { conversionEntry, depositEntry, fundingEntry, signedEntry } from '../../../src/core/domain/ledger/entries.ts'
import { exchangeStatuses } from '../../../src/exchange/domain/exchange.ts'
import { nextStatuses } from '../../../src/exchange/domain/lifecycle.ts'
import { COIN, ETHER, makeNewExchange, partnerId, startMoneyPath } from '../../exchange/money-path.ts'

const SMALL = COIN / 200n
/** check_violation, unique_violation, foreign_key_violation, not_null_violation; insufficient_privilege is ours for what is append-only. */
const [CHECK, UNIQUE, REFERENCE, APPEND_ONLY] = ['23514', '23505', '23503', '42501']

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
/** A finished exchange with its deposit, payout, transaction and attempt: rows to be tampered with. */
let row: { exchange: string; execution: string; deposit: string; payout: string; transaction: string; attempt: string }
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
  const exchange = await fixture.createExchange()
  fixture.payDeposit(exchange, SMALL)
  await fixture.mineBlocks(7)
  const [found] = await fixture.database.query<typeof row>(
    `select x.exchange_id as exchange, x.id as execution, x.deposit_id as deposit, p.id as payout, p.transaction_id as transaction, a.id as attempt
     from executions x join payouts p on p.execution_id = x.id join attempts a on a.transaction_id = p.transaction_id where x.exchange_id = $1`,
    [exchange.id],
  )
  if (!found) throw new Error('nothing was paid')
  row = found
})
afterAll(() => fixture.close())

const run = (text: string, values: readonly unknown[] = []) => fixture.database.query(text, values)
async function refused(code: string, text: string, values: readonly unknown[] = []): Promise<void> {
  const error = await run(text, values).then(
    () => null,
    (cause: unknown) => cause,
  )
  expect(sqlState(error), text).toBe(code)
}

describe('the ledger (I-1, I-2)', () => {
  test('rejects a posting that is zero, negative, or from an account to itself', async () => {
    await run("insert into journal (id, event) values ('test', 'test')")
    const post = (debit: string, credit: string, units: number) =>
      ['insert into postings values ($1, $2, $3, $4, $5, $6)', ['test', 1, debit, credit, 'btc@btc', units]] as const
    for (const [debit, credit, units] of [
      ['asset:wallet', 'equity:capital', 0],
      ['asset:wallet', 'equity:capital', -1],
      ['asset:wallet', 'asset:wallet', 1],
    ] as const)
      await refused(CHECK, ...post(debit, credit, units))
    await refused(
      REFERENCE,
      "insert into postings values ('nowhere', 1, 'asset:wallet', 'equity:capital', 'btc@btc', 1)",
    )
  })

  test('is append-only', async () => {
    for (const change of [
      "journal set event = 'other'",
      'postings set units = units + 1',
      "events set event = 'other'",
    ])
      await refused(APPEND_ONLY, `update ${change}`)
    for (const table of ['journal', 'postings', 'events']) await refused(APPEND_ONLY, `delete from ${table}`)
    await refused(APPEND_ONLY, 'truncate postings')
    await refused(APPEND_ONLY, 'truncate journal cascade')
  })

  test('changes a balance by postings alone', async () => {
    for (const change of [
      "update balances set units = units + 1 where account = 'asset:wallet'",
      'update balances set promised = 0',
      "insert into balances (account, asset_id, units) values ('equity:capital', 'other@btc', 1)",
      'delete from balances',
      'truncate balances',
    ])
      await refused(APPEND_ONLY, change)
  })

  test('rejects a negative asset account and a negative liability to an exchange', async () => {
    const { ledger } = fixture.store
    const refuse = async (work: Promise<unknown>) =>
      expect(
        sqlState(
          await work.then(
            () => null,
            (cause: unknown) => cause,
          ),
        ),
      ).toBe(CHECK)
    const outgoing = {
      payoutId: 'p',
      transactionId: 't',
      purpose: 'payout' as const,
      exchangeId: row.exchange,
      partnerId: null,
    }
    await refuse(ledger.post(signedEntry({ ...outgoing, assetId: 'btc@btc', units: 51n * COIN })))
    await refuse(
      ledger.post(
        conversionEntry({
          orderId: 'o',
          exchangeId: row.exchange,
          partnerId,
          give: { assetId: 'btc@btc', units: 1n },
          take: { assetId: 'eth@eth', dueUnits: 1n, spreadUnits: 0n, partnerUnits: 0n, networkUnits: 0n },
        }),
      ),
    )
  })

  test('books an event once, however often it is posted', async () => {
    const { ledger } = fixture.store
    const before = await fixture.readWalletUnits('btc@btc')
    const results = await Promise.all(
      Array.from({ length: 8 }, () => ledger.post(fundingEntry('once', 1, 'btc@btc', 7n))),
    )
    expect(results.filter(Boolean)).toHaveLength(1)
    expect((await fixture.readWalletUnits('btc@btc')) - before).toBe(7n)
    await run("insert into journal (id, event) values ('undo', 'test')")
    await run("insert into postings values ('undo', 0, 'equity:capital', 'asset:wallet', 'btc@btc', 7)")
  })

  test('allows exactly ten of twelve concurrent postings of 10 from a balance of 100', async () => {
    const { ledger } = fixture.store
    const exchange = await fixture.createExchange()
    await ledger.post(fundingEntry('hundred', 1, 'usdt@eth', 100n))
    const take = (n: number) =>
      ledger.post(
        signedEntry({
          payoutId: `take-${n}`,
          transactionId: 't',
          purpose: 'payout',
          exchangeId: exchange.id,
          partnerId: null,
          assetId: 'usdt@eth',
          units: 10n,
        }),
      )
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, (_, n) => take(n)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    expect(await fixture.readWalletUnits('usdt@eth')).toBe(0n)
    await fixture.expectBalanced()
  })
})

describe('deposits (I-5) and destinations (I-19)', () => {
  test('are unique, and what arrived cannot be changed', async () => {
    await refused(
      UNIQUE,
      'insert into deposits (network, identity, tx_hash, address, units, required_confirmations) select network, identity, tx_hash, address, units, 1 from deposits where id = $1',
      [row.deposit],
    )
    for (const change of [
      'units = units + 1',
      "address = 'elsewhere'",
      'exchange_id = null',
      "asset_id = 'eth@eth'",
      'credits = credits - 1',
      "identity = 'other'",
      "chain_identity = 'other'",
      // Off the chain: not while it is credited.
      'block_height = null, block_hash = null, units = units + 1',
      "returned_units = 1, returned_height = 1, returned_hash = 'h'",
      'block_height = null, block_hash = null, returned_height = 1',
    ])
      await refused(CHECK, `update deposits set ${change} where id = $1`, [row.deposit])
    await refused(CHECK, "update deposits set status = 'seen' where id = $1", [row.deposit])
    await refused(CHECK, 'update deposits set credited_units = null where id = $1', [row.deposit])
    await refused(APPEND_ONLY, 'delete from deposits where id = $1', [row.deposit])
    await refused(
      UNIQUE,
      'insert into executions (id, exchange_id, deposit_id, leg, payin_hash) select $1, exchange_id, deposit_id, leg, payin_hash from executions where id = $2',
      [randomUUID(), row.execution],
    )
  })

  test('use a destination for one exchange only, for ever', async () => {
    const other = await fixture.createExchange()
    await refused(
      UNIQUE,
      'insert into deposit_targets (exchange_id, leg, network, address, memo, key_index) select $1, 1, network, address, memo, key_index from deposit_targets where exchange_id = $2',
      [other.id, row.exchange],
    )
    await refused(APPEND_ONLY, 'update deposit_targets set exchange_id = $1, leg = 1 where exchange_id = $2', [
      other.id,
      row.exchange,
    ])
    await refused(APPEND_ONLY, 'delete from deposit_targets where exchange_id = $1', [row.exchange])
    const twin = makeNewExchange()
    await expect(fixture.store.exchanges.create([{ ...twin, deposit: other.deposit }])).rejects.toThrow()
  })

  test('are credited by one entry', async () => {
    const credit = {
      depositId: row.deposit,
      credits: 1,
      exchangeId: row.exchange,
      assetId: 'btc@btc' as const,
      units: SMALL,
      location: 'wallet' as const,
    }
    expect(await fixture.store.ledger.post(depositEntry(credit))).toBe(false)
  })
})

/** Marks a transaction as expired in a database transaction that is rolled back: 'accepted' or the error's SQL state. */
async function tryExpiring(id: string, proof: object): Promise<string | null> {
  const rollback = new Error('rolled back')
  const work = fixture.database.transaction(async (tx) => {
    await tx.query("update transactions set state = 'expired', proof = $2 where id = $1", [id, JSON.stringify(proof)])
    throw rollback
  })
  return work.catch((error: unknown) => (error === rollback ? 'accepted' : sqlState(error)))
}

describe('payouts (I-8, I-9, I-10, I-12, I-13, I-26)', () => {
  const copy = (fields: string) =>
    `insert into payouts (id, exchange_id, execution_id, deposit_id, leg, purpose, network, asset_id, address, units) select gen_random_uuid(), exchange_id, execution_id, deposit_id, leg, ${fields}, network, asset_id, address, units from payouts where id = $1`

  test('exist once per execution: a payout or a refund', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, n) => run(copy(n % 2 ? "'payout'" : "'refund'"), [row.payout])),
    )
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
    await refused(UNIQUE, copy("'refund'"), [row.payout])
  })

  test('cannot change their destination or return to an earlier state', async () => {
    for (const change of [
      "address = 'thief'",
      'units = units + 1',
      "asset_id = 'btc@btc'",
      "network = 'btc'",
      'execution_id = null',
      "purpose = 'withdrawal'",
    ])
      await refused(CHECK, `update payouts set ${change} where id = $1`, [row.payout])
    for (const state of ['reserved', 'signed', 'void'])
      await refused(CHECK, 'update payouts set state = $2, transaction_id = null where id = $1', [row.payout, state])
  })

  test('M22: of a withdrawal settle a debt: a row that is inserted alone is refused', async () => {
    await refused(
      CHECK,
      `insert into payouts (id, purpose, network, asset_id, address, units)
       values (gen_random_uuid(), 'withdrawal', 'eth', 'eth@eth', 'thief', 5)`,
    )
  })

  test('leave their transaction only with a proof that it is invalid', async () => {
    const exchange = await fixture.createExchange()
    fixture.payDeposit(exchange, SMALL)
    fixture.fakes.eth.behaviour.dropsBroadcasts = true
    await fixture.mineBlocks(2)
    const [signed] = (await run("select id, transaction_id from payouts where exchange_id = $1 and state = 'signed'", [
      exchange.id,
    ])) as { id: string; transaction_id: string }[]
    await refused(CHECK, "update payouts set state = 'reserved', transaction_id = null where id = $1", [signed?.id])
    await refused(CHECK, 'update payouts set transaction_id = $2 where id = $1', [signed?.id, row.transaction])
    await refused(CHECK, "update payouts set state = 'void' where id = $1", [signed?.id])
    await refused(CHECK, "update transactions set state = 'expired' where id = $1", [signed?.transaction_id])
    // None of these names a conflicting transaction for each attempt, or the block in which the transaction failed.
    for (const proof of [
      {},
      [],
      { proof: [] },
      { proof: {} },
      { proof: [{}] },
      { proof: [{ txHash: 'ours' }] },
      { proof: [{ spentBy: 'other' }] },
      { proof: [{ txHash: 'ours', spentBy: 'other' }, { txHash: 'ours too' }] },
      { reverted: '' },
      { reverted: null },
      { height: 7 },
    ])
      expect([proof, await tryExpiring(signed?.transaction_id ?? '', proof)]).toEqual([proof, CHECK])
    for (const proof of [
      { reverted: 'a block hash', height: 7 },
      { proof: [{ txHash: 'ours', spentBy: 'other' }] },
      { proof: [{ txHash: 'ours', conflictingTxHash: 'other' }] },
    ])
      expect([proof, await tryExpiring(signed?.transaction_id ?? '', proof)]).toEqual([proof, 'accepted'])
    // `hold` does not change signed payouts.
    await fixture.store.payouts.holdForOperator([signed?.id ?? ''], 'LIMIT')
    expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'signed', attention: null }])
    fixture.fakes.eth.behaviour.dropsBroadcasts = false
    await fixture.mineBlocks(4)
  })

  test('take nonces from a lane that never falls back (I-26)', async () => {
    const lane = "where network = 'eth' and address = 'eth-hot'"
    await refused(CHECK, `update nonce_lanes set next = next - 1 ${lane}`, [])
    await refused(CHECK, `update nonce_lanes set gap = next ${lane}`, [])
  })

  test('cannot share a nonce or an outpoint between two transactions', async () => {
    await refused(
      UNIQUE,
      'insert into transactions (id, network, wallet, branch, key_index, conflict_key, resources) select gen_random_uuid(), network, wallet, branch, key_index, conflict_key, resources from transactions where id = $1',
      [row.transaction],
    )
    await refused(CHECK, "update transactions set conflict_key = 'other' where id = $1", [row.transaction])
    for (const state of ['live', 'expired'])
      await refused(
        CHECK,
        `update transactions set state = $2, proof = ${state === 'expired' ? "'{}'" : 'null'} where id = $1`,
        [row.transaction, state],
      )
  })

  test('have attempts that share the conflict key and keep their bytes; only one is confirmed', async () => {
    const attempt = (key: string, hash: string, state: string) =>
      run(
        'insert into attempts (transaction_id, conflict_key, network, tx_hash, raw, intent, fee_units, state) values ($1, $2, $3, $4, $5, $6, 1, $7)',
        [row.transaction, key, 'eth', hash, 'raw', '{}', state],
      )
    const [{ key } = { key: '' }] = (await run('select conflict_key as key from transactions where id = $1', [
      row.transaction,
    ])) as { key: string }[]
    const codes = await Promise.all(
      [attempt('other:1', 'a', 'signed'), attempt(key, 'b', 'confirmed')].map((work) =>
        work.then(() => 'outcome', sqlState),
      ),
    )
    expect(codes).toEqual([REFERENCE, UNIQUE])
    for (const change of ["raw = 'other'", "tx_hash = 'other'", 'fee_units = 0'])
      await refused(CHECK, `update attempts set ${change} where id = $1`, [row.attempt])
    await refused(APPEND_ONLY, 'delete from attempts where id = $1', [row.attempt])
  })
})

describe('statuses (I-17)', () => {
  test('of an execution change along the allowed edges only', async () => {
    const exchange = await fixture.createExchange()
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(1)
    const { id } = await fixture.readExecution(exchange)
    // From every status to every other: in a transaction that is never committed.
    for (const from of exchangeStatuses) {
      for (const to of exchangeStatuses) {
        const outcome = await fixture.database
          .transaction(async (tx) => {
            await tx.query('alter table executions disable trigger execution_status')
            await tx.query('update executions set status = $2 where id = $1', [id, from])
            await tx.query('alter table executions enable trigger execution_status')
            const [moved] = await tx.query<{ version: number }>(
              'update executions set status = $2 where id = $1 returning version',
              [id, to],
            )
            throw Object.assign(new Error('rolled back'), { moved })
          })
          .catch((error: unknown) => (error instanceof Error && 'moved' in error ? 'outcome' : sqlState(error)))
        expect(outcome, `${from} → ${to}`).toBe(from === to || nextStatuses[from].includes(to) ? 'outcome' : CHECK)
      }
    }
  })

  /** Statuses that an exchange with one deposit may take from `pending`, by the status of its execution (docs/lifecycle.md). */
  const allowed: Readonly<Record<string, readonly string[]>> = {
    none: ['failed'],
    pending: ['failed'],
    // A deposit that is recorded while a step ends does not stop the step.
    confirming: ['confirming', 'failed'],
    exchanging: ['exchanging'],
    sending: ['sending'],
    refunding: ['refunding'],
    verifying: ['verifying'],
    finished: ['finished'],
    refunded: ['refunded'],
    failed: ['failed'],
  }

  /** Gives the first execution and then the exchange a status, in a database transaction that is rolled back. */
  async function tryStatus(id: string, ofExecution: string, ofExchange: string): Promise<string | null> {
    const rollback = new Error('rolled back')
    const work = fixture.database.transaction(async (tx) => {
      await tx.query('alter table executions disable trigger execution_status')
      await tx.query('update executions set status = $2 where exchange_id = $1', [id, ofExecution])
      await tx.query('alter table executions enable trigger execution_status')
      await tx.query('update exchanges set status = $2 where id = $1', [id, ofExchange])
      throw rollback
    })
    return work.catch((error: unknown) => (error === rollback ? 'accepted' : sqlState(error)))
  }

  test('of an exchange follow from its executions', async () => {
    const [empty, paid] = [await fixture.createExchange(), await fixture.createExchange()]
    fixture.payDeposit(paid, SMALL)
    fixture.fakes.btc.mine()
    await fixture.runWatchers()
    expect(await fixture.readStatus(paid)).toBe('pending')
    for (const to of [...exchangeStatuses.filter((status) => status !== 'pending'), 'unknown']) {
      for (const from of [...exchangeStatuses, 'none']) {
        const { id } = from === 'none' ? empty : paid
        const outcome = await tryStatus(id, from, to)
        expect(outcome, `execution ${from}, exchange ${to}`).toBe(allowed[from]?.includes(to) ? 'accepted' : CHECK)
      }
    }
  })

  test('of an exchange are final, except failed, which may become refunding', async () => {
    for (const to of exchangeStatuses.filter((status) => status !== 'finished'))
      await refused(CHECK, 'update exchanges set status = $2 where id = $1', [row.exchange, to])
    const failed = await fixture.createExchange()
    await run("update exchanges set status = 'failed' where id = $1", [failed.id])
    for (const to of exchangeStatuses.filter((status) => status !== 'failed'))
      await refused(CHECK, 'update exchanges set status = $2 where id = $1', [failed.id, to])
    fixture.payDeposit(failed, SMALL)
    fixture.fakes.btc.mine()
    await fixture.runWatchers()
    expect(await tryStatus(failed.id, 'refunding', 'refunding')).toBe('accepted')
    expect(await tryStatus(failed.id, 'exchanging', 'exchanging')).toBe(CHECK)
    for (const change of [
      'partner_id = gen_random_uuid()',
      'from_units = from_units + 1',
      "recipient_address = 'thief'",
      "created_at = created_at + interval '1 second'",
    ])
      await refused(CHECK, `update exchanges set ${change} where id = $1`, [row.exchange])
  })
})
