import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import type { Decision } from '../../../src/exchange/domain/lifecycle.ts'
import { btc, price } from '../../../src/exchange/domain/pricing.fixture.ts'
import { forecastDecision, loadHeld } from '../../../src/exchange/operations/forecast-decision.ts'
import { createOperateExchanges } from '../../../src/exchange/operations/operate-exchanges.ts'
import { COIN, ETHER, ltc, wbtc } from '../money-path.ts'
import { plan, SMALL, startPrivateMoneyPath } from '../private/private-money-path.ts'

let path: Awaited<ReturnType<typeof startPrivateMoneyPath>>
let whole: ReturnType<typeof path.books.current>
let operate: ReturnType<typeof createOperateExchanges>
beforeAll(async () => {
  path = await startPrivateMoneyPath()
  whole = path.books.current()
  operate = createOperateExchanges(path.store)
})
afterAll(() => path.close())
afterEach(async () => {
  path.screening.verdict = 'allow'
  path.books.replace(whole)
  await path.expectBalanced()
})

const PAID = COIN / 25n
const note = { actor: 'anna', reason: 'asked the customer' }
const setPrice = (key: string, usd: string) =>
  path.books.replace({ prices: { ...whole.prices, usd: new Map([...whole.prices.usd, [key, price(usd, usd)]]) } })
const isHeld = async (exchange: Exchange) =>
  (await path.listExecutions(exchange)).some(({ status }) => status === 'verifying')
const mineUntilHeld = (exchange: Exchange) => path.mineBlocksUntil(() => isHeld(exchange))

/** 0.04 bitcoin for ether at 4 000 dollars, held because the price is 4 800. */
async function holdByPrice(options: Parameters<typeof path.createExchange>[0] = {}): Promise<Exchange> {
  const exchange = await path.createExchange({ fromUnits: PAID, toUnits: (995n * ETHER) / 1_000n, ...options })
  setPrice('eth', '4800')
  path.payDeposit(exchange, PAID)
  await mineUntilHeld(exchange)
  return exchange
}

async function readForecast(exchange: Exchange, decision: Decision) {
  const [held] = await path.store.operator.listHeldExecutions(exchange.id, null, 1)
  const loaded = held && (await loadHeld(path.store, exchange.id, held))
  if (!loaded) throw new Error(`exchange ${exchange.id} has no held execution`)
  return forecastDecision({ ...loaded, deps: path.dependencies, tx: path.store }, decision)
}

/** As somebody who can write to the database. */
const setRecipient = ({ id }: Exchange, address: string) =>
  path.database.transaction(async (tx) => {
    await tx.query('alter table exchanges disable trigger user')
    await tx.query('update exchanges set recipient_address = $2 where id = $1', [id, address])
    await tx.query('alter table exchanges enable trigger user')
  })

/** The payout or refund that is reserved after the decision. */
async function decideAndRead(exchange: Exchange, decision: Decision) {
  await operate.decide(exchange.id, decision, null, note)
  await path.runJobs()
  const [payout] = (await path.listPayouts(exchange)).filter(({ state }) => state !== 'void').slice(-1)
  await path.mineBlocks(8)
  return payout
}

describe('a deposit that the price guard holds', () => {
  test('is forecast with the estimate and the recipient, which a release then pays at the same price', async () => {
    const exchange = await holdByPrice()
    const forecast = await readForecast(exchange, 'release')
    // 0.04 × 99 990 ÷ 4 800, − 0.4 %, − 0.1 %, − 0.00021.
    expect(forecast).toMatchObject({ units: 828_877_083_000_000_000n, assetId: 'eth@eth', to: exchange.recipient })
    expect(forecast.feeUnits).toBe(210_000_000_000_000n)
    expect(forecast.notes).toEqual([expect.stringContaining('estimate')])
    const payout = await decideAndRead(exchange, 'release')
    expect(payout).toMatchObject({ units: forecast.units?.toString(), address: forecast.to?.address })
  })

  test('is forecast with its refund less the network fee, which a refund then pays', async () => {
    const exchange = await holdByPrice()
    const forecast = await readForecast(exchange, 'refund')
    expect(forecast).toMatchObject({ units: PAID - 1_500n, assetId: 'btc@btc', feeUnits: 1_500n, to: exchange.refund })
    const refund = await decideAndRead(exchange, 'refund')
    expect(refund).toMatchObject({ purpose: 'refund', units: String(PAID - 1_500n), address: exchange.refund?.address })
  })

  test('has no address for a refund if none was named: it waits for one', async () => {
    const exchange = await holdByPrice({ refund: null })
    const forecast = await readForecast(exchange, 'refund')
    expect(forecast).toMatchObject({ units: PAID - 1_500n, to: null })
    expect(forecast.notes).toContain('There is no refund address: the refund waits for one.')
    await decideAndRead(exchange, 'refund')
    expect(await path.readExecution(exchange)).toMatchObject({ reason: 'REFUND_ADDRESS_REQUIRED' })
    await decideAndRead(exchange, 'fail')
  })

  test('has no amount while there is no price', async () => {
    const exchange = await holdByPrice()
    path.books.replace({ prices: { usd: new Map(), times: new Map() } })
    const forecast = await readForecast(exchange, 'release')
    expect(forecast).toMatchObject({ units: null, assetId: 'eth@eth', to: exchange.recipient })
    expect(forecast.notes).toEqual([expect.stringContaining('no current price')])
    // The fee of a refund in the native coin needs no price.
    expect(await readForecast(exchange, 'refund')).toMatchObject({ units: PAID - 1_500n })
    path.books.replace(whole)
    await path.mineBlocks(8)
  })

  test('is paid nothing if it is closed as failed', async () => {
    const exchange = await holdByPrice()
    expect(await readForecast(exchange, 'fail')).toMatchObject({
      units: null,
      to: null,
      notes: [expect.stringContaining('pays nothing')],
    })
    expect(await decideAndRead(exchange, 'fail')).toBeUndefined()
  })

  test('is credited to the balance of the partner if the exchange has no recipient', async () => {
    const exchange = await holdByPrice({ recipient: null })
    const forecast = await readForecast(exchange, 'release')
    expect(forecast).toMatchObject({ assetId: 'eth@eth', to: null })
    expect(forecast.notes).toContain("It is credited to the partner's balance.")
    await decideAndRead(exchange, 'release')
  })
})

test('what was converted before the hold is forecast exactly, without an estimate', async () => {
  const exchange = await path.createExchange({ fromUnits: PAID })
  // A recipient without its authentication code is found after the conversion.
  await setRecipient(exchange, 'thief')
  path.payDeposit(exchange, PAID)
  await mineUntilHeld(exchange)
  expect((await readForecast(exchange, 'release')).notes.join()).toContain('changed outside of the program')
  await setRecipient(exchange, exchange.recipient?.address ?? '')
  const { dueUnits } = await path.readExecution(exchange)
  const forecast = await readForecast(exchange, 'release')
  expect(forecast).toEqual({ units: dueUnits, assetId: 'eth@eth', to: exchange.recipient, feeUnits: null, notes: [] })
  expect(await decideAndRead(exchange, 'release')).toMatchObject({ units: String(dueUnits) })
})

test('a payout that is held is forecast as it is', async () => {
  const exchange = await path.queuePayout()
  const [payout] = await path.listPayouts(exchange)
  await path.store.payouts.holdForOperator([payout?.id ?? ''], 'PAYEE')
  await path.runJobs()
  const { recipient: to } = exchange
  expect(await readForecast(exchange, 'release')).toMatchObject({ units: BigInt(payout?.units ?? 0), to, notes: [] })
  await decideAndRead(exchange, 'release')
})

test('a deposit of another token that is converted is forecast as a refund', async () => {
  const exchange = await path.createExchange({ from: wbtc, to: btc, fromUnits: COIN / 10n, toUnits: COIN / 10n })
  path.screening.verdict = 'review'
  path.fakes.eth.pay(exchange.deposit.address, 10_000_000n, { contract: '0xusdt', sender: 'somebody' })
  await mineUntilHeld(exchange)
  const forecast = await readForecast(exchange, 'convert')
  expect(forecast).toMatchObject({ assetId: 'usdt@eth', to: exchange.refund })
  expect(forecast.notes[0]).toContain('WRONG_ASSET')
  await decideAndRead(exchange, 'fail')
})

test('an address that was changed outside of the program is named as one that is not paid', async () => {
  const exchange = await holdByPrice()
  await setRecipient(exchange, 'thief')
  const forecast = await readForecast(exchange, 'release')
  expect(forecast).toMatchObject({ to: { address: 'thief' } })
  expect(forecast.notes.join()).toContain('changed outside of the program')
  expect(await decideAndRead(exchange, 'release')).toBeUndefined()
  await decideAndRead(exchange, 'refund')
})

describe('a private exchange', () => {
  test('is forecast leg by leg: the first funds the next, the second is returned in the source coin', async () => {
    const exchange = await path.createExchange({ via: ltc, plan, fromUnits: SMALL })
    setPrice('ltc', '85')
    path.payDeposit(exchange, SMALL)
    await mineUntilHeld(exchange)
    const first = await readForecast(exchange, 'release')
    expect(first).toMatchObject({ assetId: 'ltc@ltc', to: null })
    expect(first.notes.join()).toContain('funds the next leg')
    await operate.decide(exchange.id, 'release', null, note)
    await path.runJobs()
    expect(await path.listPayouts(exchange)).toMatchObject([{ purpose: 'payout', units: first.units?.toString() }])
    setPrice('eth', '6000')
    await mineUntilHeld(exchange)
    const second = await readForecast(exchange, 'refund')
    expect(second).toMatchObject({ assetId: 'btc@btc', feeUnits: 1_500n, to: exchange.refund })
    expect(second.notes).toEqual([expect.stringContaining('estimate')])
    const refund = await decideAndRead(exchange, 'refund')
    expect(refund).toMatchObject({ purpose: 'refund', units: second.units?.toString() })
  })
})
