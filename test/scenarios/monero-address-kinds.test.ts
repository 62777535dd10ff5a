import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPayer } from '../../server/test/adapters/chains/monero/payer.ts'
import { describeWith } from '../support/describe-with.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { type Json, type Scenario, startScenario } from '../support/scenario.ts'

const FINISH_TIMEOUT_MS = 1.5 * PATIENCE_MS
const PRIVACY = { delayMaxMs: 500, withheldMaxPpm: 10_000, payoutMaxPpm: 0, stallMs: 3_600_000 }
const NO_ID = '0'.repeat(16)

describeWith('monerod', 'an external monero wallet', { timeout: 3 * PATIENCE_MS }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-external-'))
  let scenario: Scenario
  let external: Awaited<ReturnType<typeof startPayer>>
  beforeAll(async () => {
    const options = { networks: ['btc', 'eth', 'xmr'], settings: { privacy: PRIVACY } }
    ;[scenario, external] = await Promise.all([startScenario(options), startPayer(folder)])
  }, 3 * PATIENCE_MS)
  afterAll(async () => {
    await Promise.all([external?.stop(), scenario?.stop()])
    rmSync(folder, { recursive: true, force: true })
  })

  const toUnits = (amount: string) => Math.round(Number(amount) * 1e12)
  /** Returns the transfers of an exchange's last payout to the external wallet. */
  const readLastPayout = async ({ exchanges }: Json) =>
    (await external.received()).filter(({ txid }) => txid === exchanges.at(-1).payoutHash)

  test('is paid at subaddresses and at integrated addresses, each with its own payment id', async () => {
    const [first, second] = [await external.integrated(), await external.integrated()]
    const recipients = [
      { address: await external.subaddress(), paymentId: NO_ID },
      first,
      second,
      { address: await external.subaddress(), paymentId: NO_ID },
    ]
    // The payouts are due at the same time, and a transaction has at most one payment id.
    const exchanges = await Promise.all(
      recipients.map(({ address }) => scenario.create({ from: 'btc@btc', to: 'xmr@xmr', amount: '0.004', address })),
    )
    for (const exchange of exchanges) await scenario.deposit(exchange, '0.004')
    for (const [n, exchange] of exchanges.entries()) {
      const finished = await scenario.waitForStatus(exchange, 'finished', FINISH_TIMEOUT_MS)
      const { address, paymentId } = recipients[n] ?? { address: '', paymentId: '' }
      expect(finished.request.recipientAddress).toBe(address)
      const transfers = (await readLastPayout(finished)).filter(({ payment_id: id, address: at }) =>
        paymentId === NO_ID ? at === address : id === paymentId,
      )
      expect(transfers.map(({ amount }) => amount)).toEqual([toUnits(finished.exchanges[0].amountToReceived)])
    }
    await scenario.checkInvariants()
  })

  test('is paid at an integrated address by a private exchange', async () => {
    const { address, paymentId } = await external.integrated()
    const pair = { fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'xmr', toNetwork: 'xmr' }
    const { status, body } = await scenario.call('POST', '/v1/cross-chain/exchange/private', {
      ...pair,
      fromAmount: '0.004',
      address,
    })
    expect(status, JSON.stringify(body)).toBe(201)
    await scenario.deposit(body, '0.004')
    const finished = await scenario.waitForStatus(body, 'finished', FINISH_TIMEOUT_MS)
    expect(finished.exchanges).toHaveLength(2)
    expect((await readLastPayout(finished)).map(({ payment_id: id, amount }) => [id, amount])).toEqual([
      [paymentId, toUnits(finished.exchanges[1].amountToReceived)],
    ])
    await scenario.checkInvariants()
  })

  test('makes two deposits if it pays a deposit address twice in one transaction', async () => {
    const { address } = await scenario.wallet('btc')
    const exchange = await scenario.create({ from: 'xmr@xmr', to: 'btc@btc', amount: '0.6', address })
    const { depositAddress } = exchange.request
    const hash = await external.transfer(
      [600_000_000_000n, 700_000_000_000n].map((amount) => ({ address: depositAddress, amount })),
    )
    const { exchanges } = await scenario.until(
      'both deposits are executed',
      async () => {
        const now = await scenario.status(exchange)
        const isDone = now.exchanges.filter(({ status }: Json) => status === 'finished').length === 2
        return isDone && now
      },
      FINISH_TIMEOUT_MS,
    )
    expect(exchanges).toHaveLength(2)
    expect(exchanges.map(({ payinHash }: Json) => payinHash)).toEqual([hash, hash])
    expect(exchanges.map(({ amountFromReceived }: Json) => amountFromReceived).sort()).toEqual(['0.6', '0.7'])
    const sum = exchanges.reduce((total: number, { amountToReceived }: Json) => total + Number(amountToReceived), 0)
    expect(Number(await scenario.balance('btc@btc', address))).toBeCloseTo(sum, 8)
    await scenario.checkInvariants()
  })
})
