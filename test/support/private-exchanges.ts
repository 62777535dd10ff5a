import { expect } from 'vitest'
import { hasProgram } from './describe-with.ts'
import { startScenarioAloneOn } from './market-lock.ts'
import { PATIENCE_MS } from './patience.ts'
import type { MovablePrices } from './prices.ts'
import type { Json, Scenario } from './scenario.ts'

export const PRIVATE_FINISH_MS = 1.5 * PATIENCE_MS
const PRIVACY = { delayMaxMs: 500, withheldMaxPpm: 10_000, payoutMaxPpm: 0, stallMs: 3_600_000 }
const hasMonero = hasProgram('monerod')
export const hasLitecoin = hasProgram('litecoind')
/** An intermediary needs at least one of the two. */
export const intermediaryProgram = hasMonero ? 'monerod' : 'litecoind'
export const intermediaryNetworks = ['base', ...(hasLitecoin ? ['ltc'] : []), ...(hasMonero ? ['xmr'] : [])]

/** Starts btc, eth and the networks of intermediaries, with short delays between the legs. */
export const startPrivateScenario = (prices: MovablePrices): Promise<Scenario> =>
  startScenarioAloneOn('base', {
    networks: ['btc', 'eth', ...intermediaryNetworks],
    prices,
    settings: { privacy: PRIVACY },
  })

export const toPair = (from: string, to: string) => {
  const [[fromCurrency, fromNetwork], [toCurrency, toNetwork]] = [from.split('@'), to.split('@')]
  return { fromCurrency, fromNetwork, toCurrency, toNetwork }
}
export const readPrivateQuote = (scenario: Scenario, from: string, to: string, amount: string, privateType: string) =>
  scenario.call(
    'GET',
    `/v1/cross-chain/rate/private?${new URLSearchParams({ ...toPair(from, to), amount, privateType } as Record<string, string>)}`,
  )
export async function createPrivateExchange(
  scenario: Scenario,
  from: string,
  to: string,
  fromAmount: string,
  rest: Record<string, string>,
): Promise<Json> {
  const answer = await scenario.call('POST', '/v1/cross-chain/exchange/private', {
    ...toPair(from, to),
    fromAmount,
    ...rest,
  })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  expect(answer.body).toMatchObject({ exchangeType: 'private', status: 'pending', exchanges: [] })
  return answer.body
}
const readExchange = (scenario: Scenario, path: string, id: string) =>
  scenario.call('GET', `/v1/cross-chain/exchange/${path}?id=${id}`)

async function isListed(
  scenario: Scenario,
  { id }: Json,
  filter: Record<string, string | undefined>,
): Promise<boolean> {
  const query = new URLSearchParams(filter as Record<string, string>)
  const { status, body } = await scenario.call('GET', `/v1/cross-chain/exchange/list?${query}`)
  expect([status, body.total]).toEqual([200, body.data.length])
  return body.data.some((entry: Json) => entry.id === id)
}

/** Runs a private exchange and expects two items, one per leg, and the amount of the second at the recipient. */
export async function expectPrivatePayout(
  scenario: Scenario,
  from: string,
  to: string,
  amount: string,
  privateType: string,
): Promise<void> {
  const { body: quote, status } = await readPrivateQuote(scenario, from, to, amount, privateType)
  expect(status, JSON.stringify(quote)).toBe(200)
  expect(quote).not.toHaveProperty('rateId')
  expect(quote.expectedSeconds).toBeGreaterThan(0)
  const { address } = await scenario.wallet(to.split('@')[1] ?? '')
  const exchange = await createPrivateExchange(scenario, from, to, amount, { address, privateType })
  expect(exchange.request.amountToRequested).toBe(String(quote.toAmount))
  await scenario.deposit(exchange, amount)
  const finished = await scenario.waitForStatus(exchange, 'finished', PRIVATE_FINISH_MS)
  const [first, second, ...more] = finished.exchanges
  expect(more).toEqual([])
  expect([first.status, second.status]).toEqual(['finished', 'finished'])
  expect(first.amountFromReceived).toBe(amount)
  expect(second.payinHash).toBe(first.payoutHash)
  expect(second.amountFromReceived).toBe(first.amountToReceived)
  expect(await scenario.balance(to, address)).toBe(second.amountToReceived)
  // Only network fees change, so the payout equals the estimate within 0.1 %.
  expect(Math.abs(Number(second.amountToReceived) / quote.toAmount - 1)).toBeLessThan(0.001)
  expect((await readExchange(scenario, 'status', exchange.id)).body).toMatchObject({
    type: 'private',
    exchange: { id: exchange.id },
  })
  expect((await readExchange(scenario, 'status/private', exchange.id)).body.status).toBe('finished')
  expect((await readExchange(scenario, 'status/standard', exchange.id)).status).toBe(404)
  const expected = { ...toPair(from, to), exchangeType: 'private', status: 'finished' }
  expect(await isListed(scenario, exchange, expected)).toBe(true)
  for (const other of [{ exchangeType: 'standard' }, { status: 'refunded' }, { toNetwork: 'celo' }])
    expect(await isListed(scenario, exchange, { ...expected, ...other })).toBe(false)
  await expectReasons(scenario, exchange, privateType, [from, to])
  await scenario.checkInvariants()
}

/** Expects the stored plan to list every candidate with its amount or the reason for its refusal. */
async function expectReasons(
  scenario: Scenario,
  { id }: Json,
  privateType: string,
  ends: readonly string[],
): Promise<void> {
  const [row] = await scenario.app.database.query<Json>('select legs, plan from exchanges where id = $1', [id])
  const { id: intermediary } = row.legs[0].to
  expect(ends).not.toContain(intermediary)
  expect(row.plan.privateType).toBe(privateType)
  const priced = new Map<string, Json>(
    row.plan.considered.filter(({ refused }: Json) => !refused).map((entry: Json) => [entry.assetId, entry]),
  )
  expect(priced.get(intermediary).seconds).toBeGreaterThan(0)
  // The intermediary is the cheapest after a penalty of half a basis point per minute of waiting.
  const limit = (BigInt(priced.get(intermediary).toUnits) * 1_005n) / 1_000n
  for (const { toUnits } of priced.values()) expect(BigInt(toUnits)).toBeLessThan(limit)
  if (privateType === 'privatePlus') return expect([...priced.keys()]).toEqual(['xmr@xmr'])
  const refusals = row.plan.considered.filter(({ refused }: Json) => refused === 'SAME_NETWORK')
  expect(refusals.length).toBeGreaterThan(0)
}
