import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../server/src/lib/assert.ts'
import { type PartnerApp, startPartnerApp } from './partner-app.ts'

let app: PartnerApp
beforeAll(async () => {
  app = await startPartnerApp()
})
afterAll(() => app?.stop())

type Currency = { ticker: string; network: string; chainId: number; contractAddress: string | null; enabled: boolean }
const currencies = async (): Promise<Currency[]> => (await app.get('/v1/cross-chain/available-currencies')).json()
const find = async (ticker: string, network: string) =>
  present(
    (await currencies()).find((one) => one.ticker === ticker && one.network === network),
    ticker,
  )
const rate = async (query: Record<string, string>) =>
  (await app.get(`/v1/cross-chain/rate?${new URLSearchParams(query)}`)).json()
const pair = { fromCurrency: 'eth', fromNetwork: 'eth', toCurrency: 'bnb', toNetwork: 'bsc' }

describe('currencies by their identities', () => {
  test('networks may be named by their EVM chain id in quotes and creates, and answers have our names', async () => {
    const [eth, bnb] = [await find('eth', 'eth'), await find('bnb', 'bsc')]
    for (const form of [(id: number) => `${id}`, (id: number) => `eip155:${id}`]) {
      const named = { ...pair, fromNetwork: form(eth.chainId), toNetwork: form(bnb.chainId) }
      expect(await rate(named)).toMatchObject({ fromNetwork: 'eth', toNetwork: 'bsc' })
      const order = { ...named, fromAmount: '0.1', flow: 'standard', address: app.recipient }
      const created = await app.post('/v1/cross-chain/exchange', order)
      expect([created.statusCode, created.json().request.toNetwork]).toEqual([201, 'bsc'])
    }
    expect((await rate({ ...pair, fromNetwork: '999999999' })).code).toBe('CURRENCY_NOT_FOUND')
  })

  test('tokens may be named by their contract, in any case', async () => {
    const usdt = await find('usdt', 'eth')
    const contract = present(usdt.contractAddress, 'the contract of USDT')
    for (const fromCurrency of [contract, contract.toLowerCase(), contract.toUpperCase().replace('0X', '0x')]) {
      // The token is listed and not deployed on these chains: it is found, and refused as not available.
      const named = await rate({ ...pair, fromCurrency, amount: '100' })
      expect(named).toEqual({
        ...(await rate({ ...pair, fromCurrency: 'usdt', amount: '100' })),
        requestId: expect.anything(),
      })
    }
    expect((await rate({ ...pair, fromCurrency: `0x${'0'.repeat(39)}1` })).code).toBe('CURRENCY_NOT_FOUND')
  })

  test('a contract or chain id that contradicts the ticker is refused, with every other problem', async () => {
    const [eth, bnb, usdt] = [await find('eth', 'eth'), await find('bnb', 'bsc'), await find('usdt', 'eth')]
    const right = { fromChainId: String(eth.chainId), toChainId: String(bnb.chainId) }
    expect((await rate({ ...pair, ...right })).fromCurrency).toBe('eth')
    const wrong = { fromContractAddress: String(usdt.contractAddress), toChainId: String(eth.chainId) }
    const problems = [
      { code: 'VALIDATION_ERROR', field: 'fromContractAddress' },
      { code: 'VALIDATION_ERROR', field: 'toChainId' },
    ]
    expect(await rate({ ...pair, ...wrong })).toMatchObject({ statusCode: 400, errors: problems })
    const order = { ...pair, ...wrong, fromAmount: '0.1', flow: 'standard', address: 'nowhere' }
    expect((await app.post('/v1/cross-chain/exchange', order)).json()).toMatchObject({
      statusCode: 400,
      errors: expect.arrayContaining(
        [...problems, { code: 'INVALID_ADDRESS', field: 'address' }].map((one) => expect.objectContaining(one)),
      ),
    })
    expect((await rate({ ...pair, fromChainId: '0x1' })).errors[0].field).toBe('fromChainId')
  })

  test('several problems come together, a limit among them', async () => {
    const eth = await find('eth', 'eth')
    for (const [fromAmount, code] of [
      ['0.000000000000000001', 'AMOUNT_BELOW_MIN'],
      ['100000000', 'AMOUNT_ABOVE_MAX'],
    ]) {
      const order = { ...pair, toChainId: String(eth.chainId), fromAmount, flow: 'standard', address: 'nowhere' }
      const refused = (await app.post('/v1/cross-chain/exchange', order)).json()
      const problems: { code: string; field: string }[] = refused.errors
      expect(problems.map((one) => `${one.field}: ${one.code}`).sort()).toEqual([
        'address: INVALID_ADDRESS',
        `fromAmount: ${code}`,
        'toChainId: VALIDATION_ERROR',
      ])
      expect(problems.find((one) => one.code === code)).toMatchObject({
        ...{ min: expect.any(String), max: expect.any(String), minTo: expect.any(String), maxTo: expect.any(String) },
      })
    }
  })

  test('an amount outside the bounds states the limits in both currencies', async () => {
    const quote = await rate({ ...pair, amount: '0.1' })
    for (const [fromAmount, code] of [
      ['0.000000000000000001', 'AMOUNT_BELOW_MIN'],
      ['100000000', 'AMOUNT_ABOVE_MAX'],
    ]) {
      const order = { ...pair, fromAmount, flow: 'standard', address: app.recipient }
      const refused = (await app.post('/v1/cross-chain/exchange', order)).json()
      const limits = { currency: 'eth', network: 'eth', toCurrency: 'bnb', toNetwork: 'bsc' }
      expect(refused).toMatchObject({ statusCode: 422, code, errors: [{ code, ...limits }] })
      const [{ min, max, minTo, maxTo }] = refused.errors
      expect([Number(min), Number(max)]).toEqual([quote.min, quote.max])
      expect([Number(minTo), Number(maxTo)]).toEqual([
        (await rate({ ...pair, amount: min })).toAmount,
        (await rate({ ...pair, amount: max })).toAmount,
      ])
    }
  })

  test('the list of pairs has every direction that can be quoted, with its limits', async () => {
    const all: { fromCurrency: string; fromNetwork: string; flows: string[]; min: string; max: string }[] = (
      await app.get('/v1/cross-chain/pairs')
    ).json()
    const enabled = (await currencies()).filter((one) => one.enabled)
    expect(all).toHaveLength(enabled.length * (enabled.length - 1))
    const [one] = (await app.get('/v1/cross-chain/pairs?fromCurrency=ETH&fromNetwork=erc20&toCurrency=bnb')).json()
    const quote = await rate({ ...pair, amount: '0.1' })
    expect(one).toMatchObject({ ...pair, flows: ['standard', 'fixed-rate'] })
    expect([Number(one.min), Number(one.max)]).toEqual([quote.min, quote.max])
    const byChainId = await app.get(
      '/v1/cross-chain/pairs?fromCurrency=eth&fromNetwork=eip155:3133700001&toCurrency=bnb',
    )
    expect(byChainId.json()).toEqual([one])
    expect((await app.get('/v1/cross-chain/pairs?fromCurrency=nothing')).json()).toEqual([])
  })
})
