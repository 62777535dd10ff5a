import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { guardDefaults } from '../../server/src/exchange/settings.ts'
import { type BitcoinWallet, fundBitcoinWallet } from '../support/bitcoin-wallet.ts'
import { whileMiningPaused } from '../support/mining.ts'
import { startScenarioOnOwnChains } from '../support/own-chains.ts'
import { createMovablePrices } from '../support/prices.ts'
import type { Json, Scenario } from '../support/scenario.ts'

/* A customer orders at a fixed rate, shows a payment that is in no block, and decides when he knows the market. */
const AMOUNT = '0.005'
/** The default of bitcoin; the sandbox's blocks come so often that its own default is five minutes. */
const INCLUSION_MS = 30 * 60_000

const prices = createMovablePrices()
let scenario: Scenario
beforeAll(async () => {
  // Chains of its own: no other test mines the block that a payment waits for.
  const guards = { ...guardDefaults, fixedInclusionMs: INCLUSION_MS }
  scenario = await startScenarioOnOwnChains({ networks: ['btc', 'eth'], prices, settings: { guards } })
})
afterAll(() => scenario?.stop())

type Order = Readonly<{ exchange: Json; recipient: string; wallet: BitcoinWallet }>

async function orderAtFixedRate(signals: 'replaceable' | 'final'): Promise<Order> {
  const wallet = await fundBitcoinWallet(scenario, 'btc', '0.02', signals)
  const { address: recipient } = await scenario.wallet('eth')
  const { rateId } = await scenario.rate('btc@btc', 'eth@eth', AMOUNT, 'fixed-rate')
  const exchange = await scenario.create({
    from: 'btc@btc',
    to: 'eth@eth',
    amount: AMOUNT,
    flow: 'fixed-rate',
    rateId,
    address: recipient,
  })
  return { exchange, recipient, wallet }
}

/** Moves all times of an exchange into the past, as if it were so many minutes older. */
async function passMinutes({ id }: Json, minutes: number): Promise<void> {
  const { database } = scenario.app
  const times = {
    exchanges: ['id', 'fixed_until'],
    reservations: ['exchange_id', 'expires_at'],
    sightings: ['exchange_id', 'first_seen_at'],
  } as const
  for (const [table, [key, time]] of Object.entries(times))
    await database.query(`update ${table} set ${time} = ${time} - interval '${minutes} minutes' where ${key} = $1`, [
      id,
    ])
}

/** Pays within the lock, and waits until the program has asked the node about the payment. */
async function showPayment({ exchange, wallet }: Order): Promise<boolean> {
  await wallet.send(wallet.sign([{ address: exchange.request.depositAddress, amount: AMOUNT }]))
  await scenario.waitForStatus(exchange, 'confirming')
  const { stops } = await scenario.until('the payment is inspected', async () => {
    const [sighting] = await scenario.app.database.query<{ stops: boolean | null }>(
      'select stops_clock as stops from sightings where exchange_id = $1',
      [exchange.id],
    )
    return sighting && sighting.stops !== null ? { stops: sighting.stops } : null
  })
  return stops
}

const waitForReserve = ({ id }: Json): Promise<unknown> =>
  scenario.until(
    'nothing is reserved any more',
    async () =>
      (await scenario.app.database.query('select 1 from reservations where exchange_id = $1', [id])).length === 0,
  )

/** Bitcoin falls to `percent` above its first price, so that the fixed rate has become a gain. Returns what the market gives now. */
async function moveMarket(percent: bigint): Promise<number> {
  const { toAmount } = await scenario.rate('btc@btc', 'eth@eth', AMOUNT)
  prices.move('btc', percent)
  return waitForRate((rate) => rate < toAmount * 0.99)
}
const waitForRate = (isExpected: (rate: number) => boolean): Promise<number> =>
  scenario.until('the quote has the new price', async () => {
    const { toAmount } = await scenario.rate('btc@btc', 'eth@eth', AMOUNT)
    return isExpected(toAmount) ? toAmount : null
  })

const readReceived = async ({ recipient }: Order): Promise<number> =>
  Number(await scenario.balance('eth@eth', recipient))

describe('M1: a fixed rate whose payment waits in the mempool of bitcoin', () => {
  test('is kept if the payment is in a block within the time for that', async () => {
    const order = await orderAtFixedRate('final')
    await passMinutes(order.exchange, 10)
    await whileMiningPaused(scenario, 'btc', async () => {
      expect(await showPayment(order)).toBe(true)
      await passMinutes(order.exchange, 15)
    })
    await scenario.waitForStatus(order.exchange, 'finished')
    expect(await scenario.balance('eth@eth', order.recipient)).toBe(order.exchange.request.amountToRequested)
    await scenario.checkInvariants()
  })

  test('ends with its reserve: held out of blocks for longer, the payment gets the worse rate of the market', async () => {
    const order = await orderAtFixedRate('final')
    const market = await moveMarket(-2n)
    await passMinutes(order.exchange, 10)
    await whileMiningPaused(scenario, 'btc', async () => {
      expect(await showPayment(order)).toBe(true)
      await passMinutes(order.exchange, 45)
      await waitForReserve(order.exchange)
    })
    await scenario.waitForStatus(order.exchange, 'finished')
    // The fee rate of the payout may have changed by a little since that quote.
    expect(Math.abs((await readReceived(order)) / market - 1)).toBeLessThan(0.002)
    expect(await readReceived(order)).toBeLessThan(Number(order.exchange.request.amountToRequested) * 0.99)
    await scenario.checkInvariants()
  })

  test('ends with its lock if the sender can replace the payment, and with its reserve if he replaces it', async () => {
    const [paid, replaced] = [await orderAtFixedRate('replaceable'), await orderAtFixedRate('replaceable')]
    const market = await moveMarket(-4n)
    await whileMiningPaused(scenario, 'btc', async () => {
      for (const order of [paid, replaced]) {
        expect(await showPayment(order)).toBe(false)
        await passMinutes(order.exchange, 25)
      }
      await replaced.wallet.send(replaced.wallet.sign([{ address: replaced.wallet.address, amount: AMOUNT }], 3n))
    })
    await scenario.waitForStatus(paid.exchange, 'finished')
    expect(Math.abs((await readReceived(paid)) / market - 1)).toBeLessThan(0.002)
    await scenario.waitForStatus(replaced.exchange, 'pending')
    await passMinutes(replaced.exchange, 30)
    await waitForReserve(replaced.exchange)
    expect(await readReceived(replaced)).toBe(0)
    await scenario.checkInvariants()
  })
})
