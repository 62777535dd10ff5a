import { hex } from '@scure/base'
import { Transaction } from '@scure/btc-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOperatePayouts } from '../../server/src/exchange/operations/operate-payouts.ts'
import { fundBitcoinWallet, mineInstead } from '../support/bitcoin-wallet.ts'
import { describeWith } from '../support/describe-with.ts'
import { alarms } from '../support/facts.ts'
import { LOCK_MS, startScenarioAloneOn } from '../support/market-lock.ts'
import { whilePaused } from '../support/mining.ts'
import { nodeCall } from '../support/nodes.ts'
import type { Json, Scenario } from '../support/scenario.ts'

describeWith('litecoind', 'a coin that left the chain', () => {
  let scenario: Scenario
  beforeAll(async () => {
    scenario = await startScenarioAloneOn('ltc', { networks: ['ltc', 'eth'] })
  }, LOCK_MS)
  afterAll(() => scenario?.stop())

  test('a payout whose only coin left the chain waits for it, and is mined with it', async () => {
    const wallet = await fundBitcoinWallet(scenario, 'ltc', '3')
    await scenario.mine('ltc', 2)
    const first = await scenario.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '2' })
    const requested = (await scenario.rate('ltc@ltc', 'eth@eth', '0.5')).toAmount.toFixed(6)
    const signed = async (order: Json): Promise<string> => {
      await scenario.deposit(order, requested)
      return scenario.until('the payout is signed', async () => (await scenario.status(order)).exchanges[0]?.payoutHash)
    }
    const { address } = await scenario.wallet('ltc')
    const { payment, order, hash } = await whilePaused(scenario, 'ltc', async () => {
      const height: number = await nodeCall('ltc', 'getblockcount')
      const payment = wallet.sign([{ address: first.request.depositAddress, amount: '2' }], 1n, height)
      await wallet.send(payment)
      await scenario.mine('ltc', 4)
      await scenario.settles(first, 'finished')
      // The wallet's own coins are spoken for: what is left is the deposit.
      await scenario.app.database.query(
        "update coins set reserved_by = (select id from transactions limit 1) where network = 'ltc' and branch <> 'deposit'",
      )
      const order = await scenario.create({ from: 'eth@eth', to: 'ltc@ltc', amount: requested, address })
      const hash = await signed(order)
      const raw: string = await scenario.until('a node has it', () =>
        nodeCall('ltc', 'getrawtransaction', [hash]).catch(() => null),
      )
      await scenario.app.database.query(
        "update coins set reserved_by = null where network = 'ltc' and branch <> 'deposit'",
      )
      const transaction = Transaction.fromRaw(hex.decode(raw), { allowUnknownOutputs: true })
      expect(transaction.inputsLength).toBe(1)
      expect(hex.encode(transaction.getInput(0).txid ?? new Uint8Array())).toBe(payment.txid)
      // Below the height above which it may be mined no pool keeps the payment, and so not what spends it.
      await mineInstead('ltc', payment.txid, null, 1)
      expect(await nodeCall('ltc', 'getrawmempool')).not.toContain(payment.txid)
      return { payment, order, hash }
    })
    const [subject = ''] = await scenario.until('the alarm is raised', async () => {
      const subjects = await alarms(scenario, 'inputs:')
      return subjects.length > 0 ? subjects : null
    })
    const [alarm] = (await scenario.app.store.alarms.list(50)).filter((one) => one.subject === subject)
    expect(alarm).toMatchObject({ detail: { code: 'NO_COMMON_COIN', outpoints: [`${payment.txid}:0`] } })
    expect((await scenario.status(order)).status).toBe('sending')
    expect(await scenario.balance('ltc@ltc', address)).toBe('0')

    const operate = createOperatePayouts(scenario.app.store)
    const word = { actor: 'anna', reason: 'found on an explorer' }
    const id = subject.replace('inputs:', '')
    await expect(operate.addFundingTransaction(id, 'no hex', word)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    await expect(operate.addFundingTransaction(order.id, payment.hex, word)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    })
    await operate.addFundingTransaction(id, payment.hex, word)
    // Nothing is spent beside what was promised: the same bytes, once.
    const { exchanges } = await scenario.settles(order, 'finished')
    expect(exchanges[0].payoutHash).toBe(hash)
    expect(await scenario.balance('ltc@ltc', address)).toBe(exchanges[0].amountToReceived)
    expect(await alarms(scenario, 'inputs:')).toEqual([])
    for (const { scope } of await scenario.app.store.pauses.list()) await scenario.app.store.pauses.resume(scope)
    await scenario.until('the loss is none', async () => (await alarms(scenario, 'reorg:')).length === 0)
    await scenario.invariants()
  })
})
