import { hex } from '@scure/base'
import { Transaction } from '@scure/btc-signer'
import { formatUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundBitcoinWallet, mineInstead } from '../support/bitcoin-wallet.ts'
import { describeWith } from '../support/describe-with.ts'
import { alarms, booked } from '../support/facts.ts'
import { LOCK_MS, startScenarioAloneOn } from '../support/market-lock.ts'
import { whilePaused } from '../support/mining.ts'
import { nodeCall } from '../support/nodes.ts'
import type { Scenario } from '../support/scenario.ts'

describeWith('litecoind', 'a coin that left the chain', () => {
  let scenario: Scenario
  beforeAll(async () => {
    scenario = await startScenarioAloneOn('ltc', { networks: ['ltc', 'eth'] })
  }, LOCK_MS)
  afterAll(() => scenario?.stop())

  const coins = (units: bigint): string => formatUnits(units, 8)
  const inputsOf = (raw: string): string[] => {
    const transaction = Transaction.fromRaw(hex.decode(raw), { allowUnknownOutputs: true })
    return Array.from({ length: transaction.inputsLength }, (_, at) => {
      const { txid, index } = transaction.getInput(at)
      return `${hex.encode(txid ?? new Uint8Array())}:${index}`
    })
  }

  test('a deposit that a payout spends leaves the chain and is not double-spent', async () => {
    const filled = await booked(scenario, 'asset:wallet', 'ltc@ltc')
    const paidIn = coins(filled / 4n)
    const wallet = await fundBitcoinWallet(scenario, 'ltc', coins(filled / 4n + 100_000_000n))
    await scenario.mine('ltc', 2)
    const first = await scenario.create({ from: 'ltc@ltc', to: 'eth@eth', amount: paidIn })
    const { address } = await scenario.wallet('ltc')
    const { payment, original, second } = await whilePaused(scenario, 'ltc', async () => {
      const height: number = await nodeCall('ltc', 'getblockcount')
      const payment = wallet.sign([{ address: first.request.depositAddress, amount: paidIn }], 1n, height)
      await wallet.send(payment)
      await scenario.mine('ltc', 10)
      await scenario.settles(first, 'finished')
      // More than the wallet was filled with, so that the deposit is spent with it.
      const quote = await scenario.rate('ltc@ltc', 'eth@eth', coins((filled * 11n) / 10n))
      const second = await scenario.create({
        from: 'eth@eth',
        to: 'ltc@ltc',
        amount: quote.toAmount.toFixed(6),
        address,
      })

      await scenario.deposit(second, quote.toAmount.toFixed(6))
      const hash = await scenario.until(
        'the payout is signed',
        async () => (await scenario.status(second)).exchanges[0]?.payoutHash,
      )
      const original: string = await scenario.until('a node has it', () =>
        nodeCall('ltc', 'getrawtransaction', [hash]).catch(() => null),
      )
      expect(inputsOf(original).map((outpoint) => outpoint.split(':')[0])).toContain(payment.txid)
      // Below the height above which it may be mined no pool keeps the payment, and so not what spends it.
      await mineInstead('ltc', payment.txid, null, 1)
      const pool: string[] = await nodeCall('ltc', 'getrawmempool')
      expect(pool).not.toContain(payment.txid)
      expect(pool).not.toContain(hash)
      return { payment, original, second }
    })
    await scenario.until('the alarm is raised', async () => (await alarms(scenario, 'inputs:')).length === 1)
    expect((await scenario.status(second)).status).toBe('sending')

    const hot = scenario.app.chains.get('ltc')?.addresses.hot() ?? ''
    const amount = coins(filled)
    await scenario.control('/deposits', { network: 'ltc', currency: 'native', address: hot, amount })
    await scenario.until(
      'the wallet is filled',
      async () =>
        (
          await scenario.app.database.query(
            "select 1 from deposits where network = 'ltc' and exchange_id is null and status = 'credited'",
          )
        ).length > 1,
    )
    await scenario.app.store.pauses.resume('asset:ltc@ltc')
    const paid = await scenario.settles(second, 'finished')
    const { payoutHash, amountToReceived } = paid.exchanges[0]
    const replacement: string = await nodeCall('ltc', 'getrawtransaction', [payoutHash])
    const missing = inputsOf(original).filter((outpoint) => outpoint.startsWith(payment.txid))
    expect(inputsOf(replacement).filter((outpoint) => missing.includes(outpoint))).toEqual([])
    expect(inputsOf(replacement)).toContain(inputsOf(original)[0])
    expect(await scenario.balance('ltc@ltc', address)).toBe(amountToReceived)
    expect(await alarms(scenario, 'inputs:')).toEqual([])

    // The customer's payment comes back, and the old bytes are worth nothing.
    await wallet.send(payment)
    await scenario.until('the loss is none', async () => (await booked(scenario, 'expense:suspense', 'ltc@ltc')) === 0n)
    await expect(nodeCall('ltc', 'sendrawtransaction', [original])).rejects.toThrow()
    await scenario.mine('ltc', 3)
    expect(await scenario.balance('ltc@ltc', address)).toBe(amountToReceived)
    await scenario.invariants()
  })
})
