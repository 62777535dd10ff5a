import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { whileMiningPaused } from '../../../../test/support/mining.ts'
import { LOCK_MS, NATIVE, type Stage, sendBodyOf, sign, startStage, trade } from './partner.ts'

let stage: Stage
let usdc: string
beforeAll(async () => {
  stage = await startStage('base')
  usdc = stage.token('usdc')
}, LOCK_MS)
afterAll(() => stage.scenario.stop())

const request = (changes: Readonly<Record<string, string>> = {}) => ({
  ...{ fromTokenAddress: NATIVE, toTokenAddress: usdc, amount: '1', slippage: '1', referrerFee: '0' },
  ...changes,
})

describe('a fee that the operator holds for the partner', () => {
  const entries = (id: string) =>
    stage.scenario.app.database.query<{ id: string; debit: string; credit: string; units: string }>(
      "select j.id, p.debit, p.credit, p.units from journal j join postings p on p.journal_id = j.id where j.id like 'swap:' || $1 || ':%' order by j.at",
      [id],
    )

  test('is booked while the chain has it, and owed to the partner once its block is final', async () => {
    const user = await stage.user()
    const taker = stage.scenario.feeAddress ?? ''
    await stage.scenario.mine(stage.network, 8)
    const { rawTx, hash, quote } = await trade(stage, user, request({ referrerFee: '0.5' }))
    const units = String(BigInt(quote.toAmountRaw) - BigInt(quote.receivedAmountRaw))
    const id: string = (await stage.becomes(hash, 'finished')).id
    const account = { taker: `asset:fees:${taker}`, swap: `liability:swap:${id}` }
    const booked = { id: `swap:${id}:fee:1`, debit: account.taker, credit: account.swap, units }
    expect(await entries(id)).toEqual([booked])
    await stage.scenario.checkInvariants()
    await whileMiningPaused(stage.scenario, stage.network, async () => {
      await stage.scenario.reorg(stage.network, 6)
      await stage.rpc('anvil_dropTransaction', hash)
      await stage.scenario.until('it is reversed', async () => (await entries(id)).length === 2)
      expect(await stage.balance(usdc, taker)).toBe(0n)
      await stage.scenario.checkInvariants()
      await stage.client.sendRawTransaction({ serializedTransaction: rawTx })
    })
    await stage.becomes(hash, 'finished')
    await stage.scenario.mine(stage.network, 12)
    const all = await stage.scenario.until('its block is final', async () => {
      const now = await entries(id)
      return now.some(({ credit }) => credit.startsWith('liability:partner:')) && now
    })
    const [partner] = await stage.scenario.app.database.query<{ id: string }>(
      "select id from partners where name = 'sandbox'",
    )
    // The pools have the same state as before, so the same fee is booked a second time.
    expect(all).toEqual([
      booked,
      { id: `swap:${id}:fee:1:reversed`, debit: account.swap, credit: account.taker, units },
      { ...booked, id: `swap:${id}:fee:2` },
      {
        id: `swap:${id}:fee:2:final`,
        debit: account.swap,
        credit: `liability:partner:${partner?.id}`,
        units,
      },
    ])
    expect(await stage.balance(usdc, taker)).toBe(BigInt(units))
    await stage.scenario.checkInvariants()
  })
})

describe('a recorded swap', () => {
  test('that a crash prevented from being broadcast is broadcast by the tracker', async () => {
    const user = await stage.user()
    const built = await stage.build({ ...request(), account: user.address })
    const rawTx = await sign(user, built.body[0])
    const { database } = stage.scenario.app
    await stage.scenario.stopWorkers()
    const sent = await whileMiningPaused(stage.scenario, stage.network, () =>
      stage.send({ ...sendBodyOf(stage, user, request(), '2000'), rawTx }),
    )
    const hash: string = JSON.parse(sent.body)
    // The state after a crash between the insert and the broadcast.
    await stage.rpc('anvil_dropTransaction', hash)
    await database.query('update swaps set raw = $2, next_check_at = clock_timestamp() where hash = $1', [hash, rawTx])
    await stage.scenario.startWorkers()
    expect(await stage.becomes(hash, 'finished')).toMatchObject({ addressFrom: user.address })
    const [row] = await database.query<{ raw: string | null }>('select raw from swaps where hash = $1', [hash])
    expect(row?.raw).toBeNull()
  })
})
