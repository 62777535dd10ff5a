import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyAuditLog } from '../../../src/core/services/verify-audit-log.ts'
import { createOperateExchanges } from '../../../src/exchange/operations/operate-exchanges.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

const SMALL = COIN / 200n
const note = { actor: 'anna', reason: 'asked the customer' }

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
let operate: ReturnType<typeof createOperateExchanges>
beforeAll(async () => {
  fixture = await startMoneyPath()
  operate = createOperateExchanges(fixture.store)
  await fixture.fundWallets({ btc: COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())

/** An exchange with this many deposits, each held by the screening. */
async function createHeldExchange(deposits: number) {
  const exchange = await fixture.createExchange()
  fixture.screening.verdict = 'review'
  const hashes = Array.from({ length: deposits }, () => fixture.payDeposit(exchange, SMALL))
  await fixture.mineBlocks(3)
  return { exchange, hashes }
}
const listActs = () =>
  fixture.database.query<{ act: string; actor: string; before: unknown; after: unknown }>(
    'select act, actor, before, after from operator_acts order by id',
  )

describe('a decision of the operator', () => {
  test('names one of several held deposits, and changes no other', async () => {
    const { exchange, hashes } = await createHeldExchange(2)
    const [first = '', second = ''] = hashes
    const ambiguous = operate.decide(exchange.id, 'release', null, note)
    await expect(ambiguous).rejects.toThrow(/several deposits.*--deposit/)
    await expect(ambiguous).rejects.toThrow(first)
    await expect(ambiguous).rejects.toThrow(second)
    await expect(operate.decide(exchange.id, 'release', 'nothing', note)).rejects.toThrow('deposit nothing of exchange')
    await operate.decide(exchange.id, 'refund', second, note)
    await fixture.mineBlocks(6)
    const executions = await fixture.listExecutions(exchange)
    expect(executions.map(({ payinHash, status }) => [payinHash, status])).toEqual([
      [first, 'verifying'],
      [second, 'refunded'],
    ])
    await operate.decide(exchange.id, 'release', null, note)
    await fixture.mineBlocks(6)
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'finished' })
    await fixture.expectBalanced()
  })

  test('B168 refunds no exchange whose payout is signed', async () => {
    fixture.screening.verdict = 'allow'
    const exchange = await fixture.queuePayout()
    await fixture.runWorkers()
    const readState = async () => ({
      executions: await fixture.listExecutions(exchange),
      transactions: await fixture.database.query('select * from transactions order by id'),
      acts: await listActs(),
    })
    const before = await readState()
    expect(before.executions.map(({ status }) => status)).toEqual(['sending'])
    expect(before.transactions).toContainEqual(expect.objectContaining({ network: 'eth', state: 'live' }))
    for (const decision of ['refund', 'release', 'convert', 'fail'] as const)
      for (const deposit of [null, before.executions[0]?.payinHash ?? ''])
        await expect(operate.decide(exchange.id, decision, deposit, note)).rejects.toThrow('has no held execution')
    expect(await readState()).toEqual(before)
    await fixture.mineBlocks(6)
    expect(await fixture.readStatus(exchange)).toBe('finished')
  })

  test('requires a reason of at least three letters', async () => {
    const { exchange } = await createHeldExchange(1)
    for (const reason of ['', '-', ' . ', 'ok'])
      await expect(operate.decide(exchange.id, 'fail', null, { actor: 'anna', reason })).rejects.toThrow(
        'a reason of at least 3 letters',
      )
    expect((await fixture.readExecution(exchange)).decision).toBeNull()
    await operate.decide(exchange.id, 'refund', null, note)
    await fixture.mineBlocks(6)
    expect(await fixture.readStatus(exchange)).toBe('refunded')
  })

  test('is recorded with the state before and after it', async () => {
    expect((await listActs()).at(-1)).toMatchObject({
      act: 'exchange refund',
      actor: 'anna',
      before: { status: 'verifying', reason: 'SCREENING', decision: null },
      after: { decision: 'refund' },
    })
  })
})

describe('the audit log', () => {
  const recordAct = (subject: string) =>
    fixture.store.auditLog.record({ ...note, act: 'a test', subject, before: { units: 10n ** 30n }, after: null })

  test('stays whole under concurrent writes', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, n) => recordAct(`act ${n}`)))
    expect(await verifyAuditLog(fixture.store.auditLog)).toMatchObject({
      kind: 'whole',
      acts: (await listActs()).length,
    })
  })

  test('cannot be changed with the permissions of the app', async () => {
    for (const change of [
      "update operator_acts set reason = 'none'",
      'delete from operator_acts',
      'truncate operator_acts',
    ])
      await expect(fixture.database.query(change)).rejects.toMatchObject({ code: '42501' })
  })

  test('names a changed row, and the row after a deleted one', async () => {
    const [row] = await fixture.database.query<{ id: string }>(
      "select id from operator_acts where subject like 'act%' order by id offset 4 limit 1",
    )
    const id = row?.id ?? ''
    // The owner of the database can disable the trigger.
    const tamperWithRow = (text: string) =>
      fixture.database.transaction(async (tx) => {
        await tx.query('alter table operator_acts disable trigger operator_acts_append_only')
        await tx.query(text, [id])
        await tx.query('alter table operator_acts enable trigger operator_acts_append_only')
      })
    await tamperWithRow("update operator_acts set reason = replace(reason, 'customer', 'Customer') where id = $1")
    expect(await verifyAuditLog(fixture.store.auditLog)).toMatchObject({ kind: 'broken', row: id })
    await tamperWithRow("update operator_acts set reason = replace(reason, 'Customer', 'customer') where id = $1")
    expect(await verifyAuditLog(fixture.store.auditLog)).toMatchObject({ kind: 'whole' })
    await tamperWithRow('update operator_acts a set before = null, hash = hash_operator_act(a) where id = $1')
    expect(await verifyAuditLog(fixture.store.auditLog)).toMatchObject({ kind: 'broken', row: id })
    await tamperWithRow('delete from operator_acts where id = $1')
    expect(await verifyAuditLog(fixture.store.auditLog)).toMatchObject({ kind: 'broken', row: `${BigInt(id) + 1n}` })
  })
})
