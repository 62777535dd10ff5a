import { externalExecutor, swapExecutor, swapRouter } from '@swapyard/contracts'
import { decodeFunctionData, encodeFunctionData, type Hex, parseTransaction, parseUnits } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AggregatorStage, startAggregatorStage } from './aggregator-stage.ts'
import type { AggregatorName, Call, FakeAggregators } from './fake-aggregators.ts'
import { erc20, LOCK_MS, NATIVE, type Stage, sendBodyOf, sign, type Trade, trade } from './partner.ts'

// Decision 0064: the best aggregator executes the swap through our router, if it pays more than our own route.

const elsewhere = '0x00000000000000000000000000000000DeaDBeef'
let aggregators: FakeAggregators
let stage: Stage
let contract: Hex
let calls: AggregatorStage['calls']
let ownOut: AggregatorStage['ownOut']
let stop: AggregatorStage['stop'] | undefined

beforeAll(async () => {
  // A half-life of 1 ms: shortfalls of one case do not affect the next.
  const started = await startAggregatorStage(1)
  ;({ aggregators, stage, contract, calls, ownOut, stop } = started)
}, LOCK_MS)
afterAll(() => stop?.())
beforeEach(() => {
  aggregators.behave({})
  aggregators.takeRequests()
})

const onePercentMore = (units: bigint) => units + units / 100n

function callOf(raw: string) {
  const { to, data = '0x' } = parseTransaction(raw as Hex)
  expect(to?.toLowerCase()).toBe(stage.router)
  const { args } = decodeFunctionData({ abi: swapRouter.abi, data })
  return args?.[0] as { executor: Hex; minOut: bigint }
}

async function expectNothingLeft() {
  for (const token of [stage.token('usdc'), stage.token('usdt'), stage.wrapped]) {
    for (const owner of [externalExecutor.address, swapRouter.address]) {
      expect(await stage.balance(token, owner)).toBe(0n)
      const args = [owner, contract] as const
      expect(await stage.client.readContract({ address: token, abi: erc20, functionName: 'allowance', args })).toBe(0n)
    }
  }
  expect(await stage.balance(NATIVE, externalExecutor.address)).toBe(0n)
}

describe('an aggregator that pays more', () => {
  test.for([
    ['kyberswap', 'usdc', 'usdt', '1000', '0'],
    ['0x', 'native', 'usdc', '1.5', '0.5'],
    ['openocean', 'usdc', 'native', '2000', '0'],
  ] as const)(
    '%s is quoted, built and signed, and pays its quote: %s for %s',
    async ([name, source, target, amount, referrerFee]) => {
      const tokenOf = (symbol: string) => (symbol === 'native' ? NATIVE : stage.token(symbol))
      const [fromTokenAddress, toTokenAddress] = [tokenOf(source), tokenOf(target)]
      const request = { fromTokenAddress, toTokenAddress, amount, slippage: '1', referrerFee }
      const pays = onePercentMore(await ownOut(request))
      const others = { '0x': 'hangs', openocean: 'fails', kyberswap: 'nonsense' } as const
      aggregators.behave({ ...others, [name]: { pays, builds: calls({ pays }) } })
      const user = await stage.user(source === 'native' ? {} : { [source]: amount })
      const before = await stage.balance(toTokenAddress, user.address)
      const stock = await stage.balance(toTokenAddress, contract)
      const { quote, raws, hash } = await trade(stage, user, request)

      expect(quote.toAmountRaw).toBe(pays.toString())
      expect(quote.alternatives).toEqual([{ source: name, toAmount: quote.toAmount }])
      expect(quote.routes).toHaveLength(1)
      expect(quote.routes[0].subRoutes[0].dexes).toMatchObject([{ name, percentage: 100 }])
      expect(quote.routes[0].subRoutes[0].dexes[0].address.toLowerCase()).toBe(contract)
      const { executor, minOut } = callOf(raws.at(-1) ?? '')
      expect(executor).toBe(externalExecutor.address)
      expect(minOut).toBe((BigInt(quote.receivedAmountRaw) * 99n) / 100n)

      const row = await stage.becomes(hash, 'finished')
      expect(row.amountTo).toBe(quote.receivedAmount)
      expect(await stage.balance(toTokenAddress, contract)).toBe(stock - pays)
      // A native balance also pays for gas.
      if (target !== 'native')
        expect((await stage.balance(toTokenAddress, user.address)) - before).toBe(BigInt(quote.receivedAmountRaw))
      await expectNothingLeft()
      if (source !== 'native') await expectExactApproval(raws, user.address, fromTokenAddress as Hex)
    },
  )

  async function expectExactApproval(raws: readonly string[], owner: Hex, token: Hex) {
    expect(raws).toHaveLength(2)
    const { data = '0x' } = parseTransaction((raws[0] ?? '0x') as Hex)
    const { args } = decodeFunctionData({ abi: erc20, data })
    expect(String(args?.[0]).toLowerCase()).toBe(stage.router)
    for (const spender of [contract, externalExecutor.address, stage.router])
      expect(
        await stage.client.readContract({
          address: token,
          abi: erc20,
          functionName: 'allowance',
          args: [owner, spender],
        }),
      ).toBe(0n)
  }

  test('is not used below the minimum gain, or with an implausible quote', async () => {
    const request = { ...nativeForUsdc(), referrerFee: '0' }
    const own = await ownOut(request)
    // A gain of 4 bps, with a minimum of 5; and an implausible quote.
    for (const pays of [own + (own * 4n) / 10_000n, own * 2n]) {
      aggregators.behave({ '0x': { pays, builds: calls({ pays }) } })
      const { body } = await stage.quote(request)
      expect([body.toAmountRaw, body.alternatives.length]).toEqual([own.toString(), 1])
      const built = await stage.build({ ...request, account: (await stage.user()).address })
      expect(callOf(built.body[0]).executor).toBe(swapExecutor.address)
    }
  })

  test('is accepted only exactly as it was built', async () => {
    const request = nativeForUsdc()
    const pays = onePercentMore(await ownOut(request))
    aggregators.behave({ '0x': { pays, builds: calls({ pays }) } })
    const user = await stage.user()
    const built = await stage.build({ ...request, account: user.address })
    const raw: string = built.body[0]
    const { data = '0x' } = parseTransaction(raw as Hex)
    const { args } = decodeFunctionData({ abi: swapRouter.abi, data })
    const [order, route] = args as unknown as readonly [{ executor: Hex }, readonly bigint[]]
    const changed = [
      [order, route.with(2, BigInt(elsewhere))],
      [order, route.with(3, BigInt(elsewhere))],
      [order, route.with(-1, (route.at(-1) ?? 0n) ^ (1n << 255n))],
      [order, [...route, 0n]],
      [{ ...order, executor: swapExecutor.address }, route],
    ]
    for (const args of changed) {
      const tampered = encodeFunctionData({ abi: swapRouter.abi, functionName: 'swap', args: args as never })
      const rawTx = await sign(user, raw, { data: tampered })
      const body = { ...sendBodyOf(stage, user, request, '1'), rawTx }
      const sent = await stage.scenario.call('POST', '/v1/defi/send/swap', body)
      expect([sent.status, sent.body.code]).toEqual([400, 'RAW_TX_INVALID'])
    }
  })
})

const nativeForUsdc = (): Trade => ({
  ...{ fromTokenAddress: NATIVE, toTokenAddress: stage.token('usdc'), amount: '1.5', slippage: '1', referrerFee: '0' },
})

describe('our own route is built instead', () => {
  type Order = Parameters<ReturnType<AggregatorStage['calls']>>[0]
  type BuildCase = (pays: bigint, own: bigint) => (order: Order) => Call | 'hangs' | 'fails'
  const unavailable = parseUnits('100000000', 6)
  test.for<[string, BuildCase]>([
    ['the aggregator fails', () => () => 'fails'],
    ['the aggregator hangs', () => () => 'hangs'],
    ['its target is not published', (pays) => calls({ pays, changes: { target: elsewhere } })],
    ['its value differs from the input', (pays) => calls({ pays, changes: { value: 1n } })],
    ['its calldata is malformed', (pays) => calls({ pays, changes: { calldata: '0x12' } })],
    ['its call reverts', (pays) => calls({ pays, takes: 1n })],
    ['it lacks the quoted amount', () => calls({ pays: unavailable })],
    ['it pays less than the minimum', (pays) => calls({ pays: pays / 2n })],
    ['it pays less than our own route', (_pays, own) => calls({ pays: own - 1n })],
    ['it pays nothing', () => calls({ pays: 0n })],
  ])('if %s', async ([, buildCase]) => {
    // The slippage is wide enough that the minimum alone would accept an output below our own route.
    const request = { ...nativeForUsdc(), slippage: '5' }
    const own = await ownOut(request)
    const pays = onePercentMore(own)
    aggregators.behave({ kyberswap: { pays, builds: buildCase(pays, own) } })
    const user = await stage.user()
    const { quote, raws, hash } = await trade(stage, user, request)
    expect(quote.toAmountRaw).toBe(pays.toString())
    expect(callOf(raws[0] ?? '').executor).toBe(swapExecutor.address)
    const row = await stage.becomes(hash, 'finished')
    expect(parseUnits(row.amountTo, 6)).toBe(own)
  })

  test('if its spender is not published', async () => {
    const request = { ...nativeForUsdc(), fromTokenAddress: stage.token('usdt'), amount: '500' }
    const pays = onePercentMore(await ownOut(request))
    const name: AggregatorName = '0x'
    aggregators.behave({ [name]: { pays, builds: calls({ pays, changes: { spender: elsewhere } }) } })
    const user = await stage.user({ usdt: '500' })
    const built = await stage.build({ ...request, account: user.address })
    expect(callOf(built.body[1]).executor).toBe(swapExecutor.address)
  })

  test('and insufficient balance is reported as usual', async () => {
    const request = { ...nativeForUsdc(), amount: '1000' }
    const pays = onePercentMore(await ownOut(request))
    aggregators.behave({ kyberswap: { pays, builds: calls({ pays }) } })
    const built = await stage.build({ ...request, account: (await stage.user()).address })
    expect([built.status, built.body.code]).toEqual([422, 'INSUFFICIENT_BALANCE'])
  })
})
