import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyAuditLog } from '../../../src/core/services/verify-audit-log.ts'
import { createOperateExchanges } from '../../../src/exchange/operations/operate-exchanges.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

const SMALL = COIN / 200n
const word = { actor: 'anna', reason: 'asked the customer' }

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
let operate: ReturnType<typeof createOperateExchanges>
beforeAll(async () => {
  fixture = await startMoneyPath()
  operate = createOperateExchanges(fixture.store)
  await fixture.fill({ btc: COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())

/** An exchange with that many deposits, all held by the screening. */
async function held(deposits: number) {
  const exchange = await fixture.order()
  fixture.screening.verdict = 'review'
  const hashes = Array.from({ length: deposits }, () => fixture.deposit(exchange, SMALL))
  await fixture.blocks(3)
  return { exchange, hashes }
}
const acts = () =>
  fixture.database.query<{ act: string; actor: string; before: unknown; after: unknown }>(
    'select act, actor, before, after from operator_acts order by id',
  )

describe('a decision', () => {
  test('names one deposit where several are held, and moves no other', async () => {
    const { exchange, hashes } = await held(2)
    const [first = '', second = ''] = hashes
    const ambiguous = operate.decide(exchange.id, 'release', null, word)
    await expect(ambiguous).rejects.toThrow(/several deposits.*--deposit/)
    await expect(ambiguous).rejects.toThrow(first)
    await expect(ambiguous).rejects.toThrow(second)
    await expect(operate.decide(exchange.id, 'release', 'nothing', word)).rejects.toThrow('deposit nothing of exchange')
    await operate.decide(exchange.id, 'refund', second, word)
    await fixture.blocks(6)
    const executions = await fixture.executions(exchange)
    expect(executions.map(({ payinHash, status }) => [payinHash, status])).toEqual([
      [first, 'verifying'],
      [second, 'refunded'],
    ])
    await operate.decide(exchange.id, 'release', null, word)
    await fixture.blocks(6)
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'finished' })
    await fixture.balanced()
  })

  test('is nothing without a reason in words', async () => {
    const { exchange } = await held(1)
    for (const reason of ['', '-', ' . ', 'ok'])
      await expect(operate.decide(exchange.id, 'fail', null, { actor: 'anna', reason })).rejects.toThrow(
        'a reason of at least 3 letters',
      )
    expect((await fixture.execution(exchange)).decision).toBeNull()
    await operate.decide(exchange.id, 'refund', null, word)
    await fixture.blocks(6)
    expect(await fixture.status(exchange)).toBe('refunded')
  })

  test('is written down, with what was before and what is after', async () => {
    expect((await acts()).at(-1)).toMatchObject({
      act: 'exchange refund',
      actor: 'anna',
      before: { status: 'verifying', reason: 'SCREENING', decision: null },
      after: { decision: 'refund' },
    })
  })
})

describe('the chain of acts', () => {
  const record = (subject: string) =>
    fixture.store.auditLog.record({ ...word, act: 'a test', subject, before: { units: 10n ** 30n }, after: null })

  test('is whole, also where many write at once', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, n) => record(`act ${n}`)))
    expect(await verifyAuditLog(fixture.store.auditLog)).toMatchObject({ kind: 'whole', acts: (await acts()).length })
  })

  test('cannot be changed by the program', async () => {
    for (const change of [
      "update operator_acts set reason = 'none'",
      'delete from operator_acts',
      'truncate operator_acts',
    ])
      await expect(fixture.database.query(change)).rejects.toMatchObject({ code: '42501' })
  })

  test('names the row in which one letter was changed, and the row before which one is missing', async () => {
    const [row] = await fixture.database.query<{ id: string }>(
      "select id from operator_acts where subject like 'act%' order by id offset 4 limit 1",
    )
    const id = row?.id ?? ''
    // As somebody does who owns the database.
    const tamper = (text: string) =>
      fixture.database.transaction(async (tx) => {
        await tx.query('alter table operator_acts disable trigger operator_acts_append_only')
        await tx.query(text, [id])
        await tx.query('alter table operator_acts enable trigger operator_acts_append_only')
      })
    await tamper("update operator_acts set reason = replace(reason, 'customer', 'Customer') where id = $1")
    expect(await verifyAuditLog(fixture.store.auditLog)).toMatchObject({ kind: 'broken', row: id })
    await tamper("update operator_acts set reason = replace(reason, 'Customer', 'customer') where id = $1")
    expect(await verifyAuditLog(fixture.store.auditLog)).toMatchObject({ kind: 'whole' })
    await tamper('update operator_acts a set before = null, hash = hash_operator_act(a) where id = $1')
    expect(await verifyAuditLog(fixture.store.auditLog)).toMatchObject({ kind: 'broken', row: id })
    await tamper('delete from operator_acts where id = $1')
    expect(await verifyAuditLog(fixture.store.auditLog)).toMatchObject({ kind: 'broken', row: `${BigInt(id) + 1n}` })
  })
})
