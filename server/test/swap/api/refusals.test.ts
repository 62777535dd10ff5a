import { encodeDeployData, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../../../../test/support/scenario.ts'
import { compile } from '../../adapters/chains/evm/compile.ts'
import { LOCK_MS, NATIVE, type Stage, sign, startStage } from './partner.ts'

let stage: Stage
let usdc: string
beforeAll(async () => {
  stage = await startStage()
  usdc = stage.token('usdc')
}, LOCK_MS)
afterAll(() => stage.scenario.stop())

const ZERO = '0x0000000000000000000000000000000000000000'
const stranger = '0x00000000000000000000000000000000DeaDBeef'
const request = (changes: Readonly<Record<string, string>> = {}) => ({
  ...{ fromTokenAddress: NATIVE, toTokenAddress: usdc, amount: '1', slippage: '0.5', referrerFee: '0' },
  ...changes,
})
const codesOf = ({ errors }: Json): string[] => errors.map((one: { code: string }) => one.code)

describe('without a key', () => {
  test.for([
    ['GET', '/v1/defi/currency/info?network=eth&address=0x'],
    ['GET', '/v1/defi/available-currencies?network=eth'],
    ['GET', '/v1/defi/quote'],
    ['GET', '/v1/defi/exchange/list'],
    ['POST', '/v1/defi/transaction/swap'],
    ['POST', '/v1/defi/send/approve'],
    ['POST', '/v1/defi/send/swap'],
  ] as const)('%s %s answers 401', async ([method, path]) => {
    const body = method === 'POST' ? {} : undefined
    const { status, body: answer } = await stage.scenario.call(method, path, body, { 'x-api-key': 'no-such-key' })
    expect(status).toBe(401)
    expect(answer).toMatchObject({ message: expect.any(String), error: 'Unauthorized', statusCode: 401 })
  })
})

describe('tokens', () => {
  const info = (address: string, network = 'eth') =>
    stage.scenario.call('GET', `/v1/defi/currency/info?${new URLSearchParams({ network, address })}`)

  test('are found by contract; native currency by its placeholder in any case or the zero address', async () => {
    // Tokens are not enabled before the pools are read.
    await stage.scenario.until('the pools are read', async () => (await info(usdc)).body.enabled === true)
    expect((await info(usdc.toLowerCase())).body).toMatchObject({
      symbol: 'USDC',
      decimals: 6,
      network: 'eth',
      enabled: true,
    })
    for (const address of [NATIVE, NATIVE.toLowerCase(), ZERO])
      expect((await info(address)).body).toMatchObject({ address: NATIVE, symbol: 'ETH', decimals: 18, enabled: true })
    expect((await info(usdc, 'ERC20')).status).toBe(200)
  })

  test('are 404 without a token contract, and 400 for a malformed address', async () => {
    expect((await info(stranger)).body).toMatchObject({ statusCode: 404, code: 'TOKEN_NOT_FOUND' })
    expect((await info(stage.router)).body).toMatchObject({ statusCode: 404, code: 'TOKEN_NOT_FOUND' })
    for (const address of [
      '0x12',
      'USDC',
      'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
      '0xa0b86991C6218b36c1d19D4a2e9Eb0cE3606eB48',
    ])
      expect((await info(address)).body).toMatchObject({ statusCode: 400, code: 'INVALID_ADDRESS' })
    expect((await info(usdc, 'btc')).body).toMatchObject({ statusCode: 404, code: 'NETWORK_NOT_FOUND' })
    expect((await info(usdc, 'sol')).body).toMatchObject({ statusCode: 422, code: 'NETWORK_NOT_SERVED' })
  })

  test('may return bytes32 names, and are not tradable without a pool', async () => {
    const { Bytes32Token } = await compile(
      new URL('../../adapters/swap-chain/odd-tokens.sol', import.meta.url).pathname,
    )
    if (!Bytes32Token) throw new Error('no such contract')
    const user = await stage.user()
    const gas = { gas: 2_000_000n, maxFeePerGas: 100n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n }
    const raw = await user.signTransaction({
      ...{
        chainId: stage.chainId,
        nonce: 0,
        data: encodeDeployData({ ...Bytes32Token, args: [] }),
        type: 'eip1559',
        ...gas,
      },
    })
    const hash = await stage.client.sendRawTransaction({ serializedTransaction: raw })
    await stage.scenario.mine('eth', 1)
    const { contractAddress } = await stage.client.getTransactionReceipt({ hash })
    const address = contractAddress as Hex
    expect((await info(address)).body).toMatchObject({ name: 'Maker', symbol: 'MKR', decimals: 18, enabled: false })
    const refused = await stage.quote(request({ toTokenAddress: address }))
    expect(refused.body).toMatchObject({ statusCode: 422, code: 'NO_ROUTE' })
  })

  test('are listed in pages, the most liquid first, each with an icon of our server', async () => {
    const page = (query: string) => stage.scenario.call('GET', `/v1/defi/available-currencies?network=eth${query}`)
    const all = await page('&limit=500')
    const total = all.body.length
    expect(all.headers.get('x-total-count')).toBe(String(total))
    expect(total).toBeGreaterThan(12)
    expect(all.body[0].enabled).toBe(true)
    expect(all.body.slice(0, 8).map((one: Json) => one.symbol)).toContain('ETH')
    const addresses: string[] = all.body.map((one: Json) => one.address)
    expect(new Set(addresses.map((one) => one.toLowerCase())).size).toBe(total)
    const second = await page('&page=2&limit=5')
    expect(second.body.map((one: Json) => one.address)).toEqual(addresses.slice(5, 10))
    expect((await page('&page=999')).body).toEqual([])
    for (const bad of ['&limit=0', '&limit=501', '&page=0', '&page=-1', '&limit=1e2', '&page=1&page=2'])
      expect((await page(bad)).status).toBe(400)
    const icon = new URL(all.body[1].image)
    expect((await fetch(stage.scenario.url + icon.pathname)).headers.get('content-type')).toBe('image/svg+xml')
  })
})

describe('a quote', () => {
  test('reports all errors of a request at once', async () => {
    // A quote knows an address only after it was read.
    await stage.scenario.call('GET', `/v1/defi/currency/info?network=eth&address=${stranger}`)
    const { body } = await stage.quote(
      request({ fromTokenAddress: stranger, toTokenAddress: 'x', slippage: '51', referrerFee: '5.1' }),
    )
    expect(body.statusCode).toBe(404)
    expect(codesOf(body)).toEqual([
      'TOKEN_NOT_FOUND',
      'INVALID_ADDRESS',
      'SLIPPAGE_OUT_OF_RANGE',
      'REFERRER_FEE_OUT_OF_RANGE',
    ])
    expect(body.errors[2]).toMatchObject({ field: 'slippage', min: '0.01', max: '50' })
  })

  test.for([
    [{ toTokenAddress: ZERO }, 400, 'SAME_CURRENCY'],
    [{ amount: '0.0000000000000000001' }, 400, 'AMOUNT_PRECISION'],
    [{ amount: '0' }, 400, 'AMOUNT_MALFORMED'],
    [{ amount: '1e3' }, 400, 'AMOUNT_MALFORMED'],
    [{ amount: '-1' }, 400, 'AMOUNT_MALFORMED'],
    [{ slippage: '0' }, 400, 'SLIPPAGE_OUT_OF_RANGE'],
    [{ slippage: '0.009' }, 400, 'SLIPPAGE_OUT_OF_RANGE'],
    [{ slippage: '-1' }, 400, 'SLIPPAGE_OUT_OF_RANGE'],
    [{ slippage: '1%' }, 400, 'SLIPPAGE_OUT_OF_RANGE'],
    [{ amount: `1${'0'.repeat(40)}` }, 400, 'AMOUNT_MALFORMED'],
    [{ referrerFee: '5.0001' }, 400, 'REFERRER_FEE_OUT_OF_RANGE'],
    [{ network: 'btc' }, 404, 'NETWORK_NOT_FOUND'],
    [{ network: 'sui' }, 422, 'NETWORK_NOT_SERVED'],
    [{ amount: '9'.repeat(40) }, 422, 'INSUFFICIENT_LIQUIDITY'],
  ] as const)('of %o is %i %s', async ([changes, status, code]) => {
    const answer = await stage.quote(request(changes))
    expect([answer.status, ...codesOf(answer.body)]).toEqual([status, code])
  })

  test('rounds the minimum and the fee down, and values both sides in US dollars', async () => {
    const { body } = await stage.quote(request({ slippage: '0.01', referrerFee: '5' }))
    const out = BigInt(body.toAmountRaw)
    const received = BigInt(body.receivedAmountRaw)
    expect(out - received).toBe((out * 50_000n) / 1_000_000n)
    const least = (received * 999_900n) / 1_000_000n
    expect(BigInt(body.minReceived.replace('.', '').padEnd(body.minReceived.split('.')[0].length + 6, '0'))).toBe(least)
    expect(Number(body.usdFromAmount)).toBeGreaterThan(Number(body.usdToAmount) * 0.99)
    expect(Number(body.priceImpact)).toBeLessThan(1)
    expect(body.block).toBeGreaterThan(0)
    expect(Date.parse(body.expiresAt)).toBeGreaterThan(Date.now())
  })
})

describe('a build', () => {
  test.for([[NATIVE], [ZERO], ['0x12']])('for the account %s is refused', async ([account]) => {
    expect((await stage.build({ ...request(), account })).body).toMatchObject({
      statusCode: 400,
      code: 'INVALID_ADDRESS',
    })
  })

  test('for an address of the service is refused', async () => {
    const hot = stage.scenario.app.chains.get('eth')?.addresses.hot()
    expect((await stage.build({ ...request(), account: hot })).body.code).toBe('ADDRESS_IS_OURS')
    expect((await stage.build({ ...request(), account: stage.router })).body.code).toBe('INVALID_ADDRESS')
  })

  test('accepts percentages as numbers, and rejects other values', async () => {
    const user = await stage.user()
    const numbers = { ...request(), account: user.address, slippage: 0.5, referrerFee: 0 }
    expect((await stage.build(numbers)).status).toBe(201)
    expect((await stage.build({ ...numbers, slippage: 1e-7 })).body.errors[0].code).toBe('SLIPPAGE_OUT_OF_RANGE')
    expect((await stage.build({ ...numbers, slippage: true })).status).toBe(400)
  })

  test('reports what the account lacks (B138)', async () => {
    const { address } = await stage.user()
    const poor = await stage.build({ ...request({ amount: '51' }), account: address })
    expect(poor.body).toMatchObject({
      ...{ statusCode: 422, code: 'INSUFFICIENT_BALANCE', message: expect.stringContaining('of the native currency') },
      errors: [{ field: 'amount', required: '51', available: '50' }],
    })
    const none = await stage.build({ ...request({ fromTokenAddress: usdc, toTokenAddress: NATIVE }), account: address })
    expect(none.body).toMatchObject({
      ...{ statusCode: 422, code: 'INSUFFICIENT_BALANCE' },
      errors: [{ field: 'amount', required: '1', available: '0' }],
    })
  })

  test('is repeated by its Idempotency-Key, and another body is rejected', async () => {
    const user = await stage.user()
    const body = { ...request(), network: 'eth', account: user.address }
    const build = (changes: object = {}) =>
      stage.scenario.call('POST', '/v1/defi/transaction/swap', { ...body, ...changes }, { 'idempotency-key': 'one' })
    const first = await build()
    expect((await build()).body).toEqual(first.body)
    // A JSON number counts as its decimal text.
    const { amount, slippage, referrerFee } = body
    const numbers = { amount: Number(amount), slippage: Number(slippage), referrerFee: Number(referrerFee) }
    expect((await build(numbers)).body).toEqual(first.body)
    expect((await build({ amount: '2' })).body).toMatchObject({ statusCode: 409, code: 'IDEMPOTENCY_CONFLICT' })
  })

  test('of a token that requires an allowance reset returns the reset to sign (B140)', async () => {
    const user = await stage.user({ usdt: '100' })
    const usdt = stage.token('usdt')
    const trade = (amount: string) => ({
      ...request({ fromTokenAddress: usdt, toTokenAddress: usdc, amount }),
      account: user.address,
    })
    const send = async (raw: string) =>
      stage.scenario.call('POST', '/v1/defi/send/approve', { network: 'eth', rawApproveTx: await sign(user, raw) })
    expect((await send((await stage.build(trade('10'))).body[0])).status).toBe(201)
    await stage.scenario.mine('eth', 1)
    const refused = await stage.build(trade('50'))
    expect(refused.body).toMatchObject({ statusCode: 409, code: 'ALLOWANCE_RESET_REQUIRED' })
    expect((await send(refused.body.errors[0].rawTx)).status).toBe(201)
    await stage.scenario.mine('eth', 1)
    expect((await stage.build(trade('50'))).body).toHaveLength(2)
  })

  test('that would revert names the contract’s error (B134)', async () => {
    // The token now takes a fee of 1 % on transfer, which quotes do not know yet: the output is below the minimum.
    const user = await stage.user()
    const [pepe, levy] = [stage.token('pepe'), stage.token('levy')]
    const plain = await stage.rpc<Hex>('eth_getCode', pepe, 'latest')
    await stage.rpc('anvil_setCode', pepe, await stage.rpc<Hex>('eth_getCode', levy, 'latest'))
    try {
      const trade = { ...request({ toTokenAddress: pepe, slippage: '0.1' }), account: user.address }
      const { body } = await stage.build(trade)
      expect(body).toMatchObject({ statusCode: 422, code: 'SIMULATION_FAILED' })
      expect(body.errors[0].reason).toMatch(/^TooLittle\([0-9]+, [0-9]+\)$/)
      // The slippage would pay the fee, but the quote did not say it (D4).
      // Another account: the first one's routes avoid these pools now.
      const within = await stage.build({ ...trade, account: (await stage.user()).address, slippage: '3' })
      expect(within.body).toMatchObject({ statusCode: 422, code: 'SIMULATION_FAILED' })
      const [{ quoted, simulated }] = within.body.errors
      expect(Number(simulated) / Number(quoted)).toBeLessThan(0.991)
      expect(Number(simulated) / Number(quoted)).toBeGreaterThan(0.97)
    } finally {
      await stage.rpc('anvil_setCode', pepe, plain)
    }
  })

  test('of a fee-on-transfer token is rejected as its quote is, with the reason (B133)', async () => {
    const user = await stage.user()
    const levy = stage.token('levy')
    for (const sides of [{ toTokenAddress: levy }, { fromTokenAddress: levy, toTokenAddress: usdc }]) {
      const refused = {
        statusCode: 422,
        code: 'NO_ROUTE',
        message: expect.stringContaining(`${levy.toLowerCase()} takes a fee on transfer`),
      }
      expect((await stage.quote(request(sides))).body).toMatchObject(refused)
      if (!('fromTokenAddress' in sides))
        expect((await stage.build({ ...request(sides), account: user.address })).body).toMatchObject(refused)
    }
  })

  test('with an excessive price impact is rejected (B136)', async () => {
    const user = await stage.user({ pepe: '100000000000000' })
    const pepe = stage.token('pepe')
    const trade = {
      ...request({ fromTokenAddress: pepe, amount: '100000000000000', slippage: '50' }),
      account: user.address,
    }
    expect((await stage.build(trade)).body).toMatchObject({ statusCode: 422, code: 'PRICE_IMPACT_TOO_HIGH' })
    const quoted = { statusCode: 422, code: 'PRICE_IMPACT_TOO_HIGH', errors: [{ field: 'amount', max: '15' }] }
    expect((await stage.quote(trade)).body).toMatchObject(quoted)
  })

  test('for a contract is rejected, but for an account with delegated code (EIP-7702) it is not', async () => {
    expect((await stage.build({ ...request(), account: usdc })).body).toMatchObject({
      ...{ statusCode: 400, code: 'INVALID_ADDRESS' },
      errors: [{ field: 'account' }],
    })
    const user = await stage.user()
    await stage.rpc('anvil_setCode', user.address, `0xef0100${usdc.slice(2)}`)
    expect((await stage.build({ ...request(), account: user.address })).status).toBe(201)
  })
})
