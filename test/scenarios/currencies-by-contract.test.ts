import { afterAll, beforeAll, expect, test } from 'vitest'
import { present } from '../../server/src/lib/assert.ts'
import { type Json, type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
/** Contracts of USDT and USDC on the sandbox's `eth`. */
let [usdt, usdc] = ['', '']
let chainId = 0
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
  const { body } = await scenario.call('GET', '/v1/cross-chain/available-currencies')
  const find = (ticker: string) => present(body.find(isOn(ticker, 'eth')), ticker)
  usdt = find('usdt').contractAddress
  usdc = find('usdc').contractAddress
  chainId = find('usdt').chainId
})
afterAll(() => scenario.stop())

const isOn = (ticker: string, network: string) => (one: Json) => one.ticker === ticker && one.network === network
const sell = { fromCurrency: 'usdt', fromNetwork: 'eth', toCurrency: 'btc', toNetwork: 'btc' }
const buy = { fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'usdt', toNetwork: 'eth' }
const quote = (pair: object, amount: string) =>
  scenario.call('GET', `/v1/cross-chain/rate?${new URLSearchParams({ ...pair, amount })}`)
const create = async (pair: { toNetwork: string }, fromAmount: string) => {
  const { address } = await scenario.wallet(pair.toNetwork)
  return scenario.call('POST', '/v1/cross-chain/exchange', { ...pair, fromAmount, flow: 'standard', address })
}

test('a token by its contract, or by its ticker and its contract, is quoted and exchanged under our ticker', async () => {
  expect(usdt).toMatch(/^0x[0-9a-fA-F]{40}$/)
  const forms = [usdt, usdt.toLowerCase(), usdt.toUpperCase().replace('0X', '0x')]
  for (const [pair, amount, named] of [
    [sell, '750.25', forms.map((fromCurrency) => ({ fromCurrency }))],
    [sell, '750.25', forms.map((fromContractAddress) => ({ fromContractAddress }))],
    [buy, '0.01', forms.map((toCurrency) => ({ toCurrency }))],
    [buy, '0.01', forms.map((toContractAddress) => ({ toContractAddress }))],
  ] as const)
    for (const name of named) {
      const { status, body } = await quote({ ...pair, ...name }, amount)
      expect([status, name, body]).toMatchObject([200, name, { ...pair, fromAmount: Number(amount) }])
      const created = await create({ ...pair, ...name }, amount)
      expect([created.status, created.body.request]).toMatchObject([201, { ...pair, amountFromRequested: amount }])
    }
})

test('another contract than that of the ticker is refused', async () => {
  for (const [pair, amount, field] of [
    [sell, '750.25', 'fromContractAddress'],
    [buy, '0.01', 'toContractAddress'],
  ] as const) {
    const named = { ...pair, [field]: usdc }
    const refused = { status: 400, body: { errors: [{ code: 'VALIDATION_ERROR', field }] } }
    expect(await quote(named, amount)).toMatchObject(refused)
    expect(await create(named, amount)).toMatchObject(refused)
  }
})

test('the report states the contract of a token on its side, in JSON and CSV', async () => {
  const token = { contractAddress: usdt, chainId }
  const coin = { contractAddress: null, chainId: null }
  for (const [pair, amount, fromToken, toToken] of [
    [sell, '750.25', token, coin],
    [buy, '0.01', coin, token],
  ] as const) {
    const { id } = (await create(pair, amount)).body
    const { data } = (await scenario.call('GET', '/v1/partner/exchanges?limit=500')).body
    expect(data.find((one: Json) => one.id === id)).toMatchObject({ fromToken, toToken })
    const csv: string = (await scenario.call('GET', '/v1/partner/exchanges?format=csv')).body
    const [head = [], ...lines] = csv.split('\r\n').map((line) => line.split(','))
    const cells = present(
      lines.find(([first]) => first === id),
      'the line of the exchange',
    )
    const cell = (name: string) => cells[head.indexOf(name)]
    const text = (value: string | number | null) => (value === null ? '' : String(value))
    expect([cell('fromContractAddress'), cell('fromChainId')]).toEqual(Object.values(fromToken).map(text))
    expect([cell('toContractAddress'), cell('toChainId')]).toEqual(Object.values(toToken).map(text))
  }
})
