import { hex } from '@scure/base'
import { Transaction } from '@scure/btc-signer'
import { formatUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundBitcoinWallet, replaceBlocks } from '../support/bitcoin-wallet.ts'
import { describeWith } from '../support/describe-with.ts'
import { whileMiningPaused } from '../support/mining.ts'
import { nodeCaller, readRawTransaction } from '../support/nodes.ts'
import { startScenarioOnOwnChains } from '../support/own-chains.ts'
import type { Scenario } from '../support/scenario.ts'
import { readAlarms, readBalance } from '../support/scenario-reads.ts'

describeWith('litecoind', 'a payout with a missing input', () => {
  let scenario: Scenario
  let callLitecoin: ReturnType<typeof nodeCaller>
  beforeAll(async () => {
    // An app that starts during this reorganisation would begin below it.
    scenario = await startScenarioOnOwnChains({ networks: ['ltc', 'eth'] })
    callLitecoin = nodeCaller('ltc', scenario.chains)
  })
  afterAll(() => scenario?.stop())

  const formatLitecoin = (units: bigint): string => formatUnits(units, 8)
  const inputsOf = (raw: string): string[] => {
    const transaction = Transaction.fromRaw(hex.decode(raw), { allowUnknownOutputs: true })
    return Array.from({ length: transaction.inputsLength }, (_, at) => {
      const { txid, index } = transaction.getInput(at)
      return `${hex.encode(txid ?? new Uint8Array())}:${index}`
    })
  }

  test('is replaced without the missing input and paid once', async () => {
    const walletUnits = await readBalance(scenario, 'asset:wallet', 'ltc@ltc')
    const depositAmount = formatLitecoin(walletUnits / 4n)
    const wallet = await fundBitcoinWallet(scenario, 'ltc', formatLitecoin(walletUnits / 4n + 100_000_000n))
    await scenario.mine('ltc', 2)
    const first = await scenario.create({ from: 'ltc@ltc', to: 'eth@eth', amount: depositAmount })
    const { address } = await scenario.wallet('ltc')
    const { payment, original, second } = await whileMiningPaused(scenario, 'ltc', async () => {
      const height: number = await callLitecoin('getblockcount')
      const payment = wallet.sign([{ address: first.request.depositAddress, amount: depositAmount }], 1n, height)
      await wallet.send(payment)
      await scenario.mine('ltc', 10)
      await scenario.waitForStatus(first, 'finished')
      // More than the wallet held before the deposit, so that the payout also spends the deposit.
      const quote = await scenario.rate('ltc@ltc', 'eth@eth', formatLitecoin((walletUnits * 11n) / 10n))
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
      const original: string = await scenario.until('the node has the payout', () =>
        readRawTransaction('ltc', hash, scenario.chains),
      )
      expect(inputsOf(original).map((outpoint) => outpoint.split(':')[0])).toContain(payment.txid)
      // The chain is now below the payment's lock time, so nodes drop the payment and the payout that spends it.
      await replaceBlocks(scenario, 'ltc', payment.txid, null, 1)
      const mempool: string[] = await callLitecoin('getrawmempool')
      expect(mempool).not.toContain(payment.txid)
      expect(mempool).not.toContain(hash)
      return { payment, original, second }
    })
    await scenario.until('the alarm is raised', async () => (await readAlarms(scenario, 'inputs:')).length === 1)
    expect((await scenario.status(second)).status).toBe('sending')

    const hot = scenario.app.chains.get('ltc')?.addresses.hot() ?? ''
    const amount = formatLitecoin(walletUnits)
    await scenario.control('/deposits', { network: 'ltc', currency: 'native', address: hot, amount })
    await scenario.until(
      'the top-up is credited',
      async () =>
        (
          await scenario.app.database.query(
            "select 1 from deposits where network = 'ltc' and exchange_id is null and status = 'credited'",
          )
        ).length > 1,
    )
    await scenario.app.store.pauses.resume('asset:ltc@ltc')
    const paid = await scenario.waitForStatus(second, 'finished')
    const { payoutHash, amountToReceived } = paid.exchanges[0]
    const replacement: string = await callLitecoin('getrawtransaction', payoutHash)
    const missing = inputsOf(original).filter((outpoint) => outpoint.startsWith(payment.txid))
    expect(inputsOf(replacement).filter((outpoint) => missing.includes(outpoint))).toEqual([])
    expect(inputsOf(replacement)).toContain(inputsOf(original)[0])
    expect(await scenario.balance('ltc@ltc', address)).toBe(amountToReceived)
    expect(await readAlarms(scenario, 'inputs:')).toEqual([])

    // The customer's payment returns to the chain; nodes still reject the original payout.
    await wallet.send(payment)
    await scenario.until(
      'the loss is reversed',
      async () => (await readBalance(scenario, 'expense:suspense', 'ltc@ltc')) === 0n,
    )
    await expect(callLitecoin('sendrawtransaction', original)).rejects.toThrow()
    await scenario.mine('ltc', 3)
    expect(await scenario.balance('ltc@ltc', address)).toBe(amountToReceived)
    await scenario.checkInvariants()
  })
})
