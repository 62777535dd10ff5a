import { hex } from '@scure/base'
import { Transaction } from '@scure/btc-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOperatePayouts } from '../../server/src/exchange/operations/operate-payouts.ts'
import { fundBitcoinWallet, replaceBlocks } from '../support/bitcoin-wallet.ts'
import { describeWith } from '../support/describe-with.ts'
import { whileMiningPaused } from '../support/mining.ts'
import { nodeCaller, readRawTransaction } from '../support/nodes.ts'
import { startScenarioOnOwnChains } from '../support/own-chains.ts'
import type { Json, Scenario } from '../support/scenario.ts'
import { readAlarms } from '../support/scenario-reads.ts'

describeWith('litecoind', 'a payout whose only input is missing', () => {
  let scenario: Scenario
  let callLitecoin: ReturnType<typeof nodeCaller>
  beforeAll(async () => {
    // An app that starts during this reorganisation would begin below it.
    scenario = await startScenarioOnOwnChains({ networks: ['ltc', 'eth'] })
    callLitecoin = nodeCaller('ltc', scenario.chains)
  })
  afterAll(() => scenario?.stop())

  test('waits for the funding transaction and is mined after an operator adds it', async () => {
    const wallet = await fundBitcoinWallet(scenario, 'ltc', '3')
    await scenario.mine('ltc', 2)
    const first = await scenario.create({ from: 'ltc@ltc', to: 'eth@eth', amount: '2' })
    const requested = (await scenario.rate('ltc@ltc', 'eth@eth', '0.5')).toAmount.toFixed(6)
    const waitForPayoutHash = async (order: Json): Promise<string> => {
      await scenario.deposit(order, requested)
      return scenario.until('the payout is signed', async () => (await scenario.status(order)).exchanges[0]?.payoutHash)
    }
    const { address } = await scenario.wallet('ltc')
    const { payment, order, hash } = await whileMiningPaused(scenario, 'ltc', async () => {
      const height: number = await callLitecoin('getblockcount')
      const payment = wallet.sign([{ address: first.request.depositAddress, amount: '2' }], 1n, height)
      await wallet.send(payment)
      await scenario.mine('ltc', 4)
      await scenario.waitForStatus(first, 'finished')
      // Reserve all UTXOs of the wallet, so that the payout spends the deposit.
      await scenario.app.database.query(
        "update coins set reserved_by = (select id from transactions limit 1) where network = 'ltc' and branch <> 'deposit'",
      )
      const order = await scenario.create({ from: 'eth@eth', to: 'ltc@ltc', amount: requested, address })
      const hash = await waitForPayoutHash(order)
      const raw: string = await scenario.until('the node has the payout', () =>
        readRawTransaction('ltc', hash, scenario.chains),
      )
      await scenario.app.database.query(
        "update coins set reserved_by = null where network = 'ltc' and branch <> 'deposit'",
      )
      const transaction = Transaction.fromRaw(hex.decode(raw), { allowUnknownOutputs: true })
      expect(transaction.inputsLength).toBe(1)
      expect(hex.encode(transaction.getInput(0).txid ?? new Uint8Array())).toBe(payment.txid)
      // The chain is now below the payment's lock time, so nodes drop the payment and the payout that spends it.
      await replaceBlocks(scenario, 'ltc', payment.txid, null, 1)
      expect(await callLitecoin('getrawmempool')).not.toContain(payment.txid)
      return { payment, order, hash }
    })
    const [subject = ''] = await scenario.until('the alarm is raised', async () => {
      const subjects = await readAlarms(scenario, 'inputs:')
      return subjects.length > 0 ? subjects : null
    })
    const [alarm] = (await scenario.app.store.alarms.list(50)).filter((entry) => entry.subject === subject)
    expect(alarm).toMatchObject({ detail: { code: 'NO_COMMON_COIN', outpoints: [`${payment.txid}:0`] } })
    expect((await scenario.status(order)).status).toBe('sending')
    expect(await scenario.balance('ltc@ltc', address)).toBe('0')

    const operate = createOperatePayouts(scenario.app.store)
    const auditNote = { actor: 'anna', reason: 'found on an explorer' }
    const id = subject.replace('inputs:', '')
    await expect(operate.addFundingTransaction(id, 'no hex', auditNote)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    })
    await expect(operate.addFundingTransaction(order.id, payment.hex, auditNote)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    })
    await operate.addFundingTransaction(id, payment.hex, auditNote)
    // The original payout is mined; there is no second payment.
    const { exchanges } = await scenario.waitForStatus(order, 'finished')
    expect(exchanges[0].payoutHash).toBe(hash)
    expect(await scenario.balance('ltc@ltc', address)).toBe(exchanges[0].amountToReceived)
    expect(await readAlarms(scenario, 'inputs:')).toEqual([])
    for (const { scope } of await scenario.app.store.pauses.list()) await scenario.app.store.pauses.resume(scope)
    await scenario.until('the loss alarm is cleared', async () => (await readAlarms(scenario, 'reorg:')).length === 0)
    await scenario.checkInvariants()
  })
})
