import { externalExecutor, swapExecutor, swapRouter } from '@swapyard/contracts'
import { decodeFunctionData, encodeFunctionData, type Hex, parseTransaction, parseUnits } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AggregatorStage, startAggregatorStage } from './aggregator-stage.ts'
import type { AggregatorName, Call, FakeAggregators } from './fake-aggregators.ts'
import { erc20, LOCK_MS, NATIVE, type Stage, sendBodyOf, sign, type Trade, trade } from './partner.ts'

// Decision 0064: the aggregator that pays more carries the swap out through our router, or our own route does.

const elsewhere = '0x00000000000000000000000000000000DeaDBeef'
let routers: FakeAggregators
let stage: Stage
let outside: Hex
let calls: AggregatorStage['calls']
let ownOut: AggregatorStage['ownOut']
let stop: AggregatorStage['stop'] | undefined

beforeAll(async () => {
  // What one did not keep is forgotten at once: each case begins anew.
  const started = await startAggregatorStage(1)
  ;({ routers, stage, outside, calls, ownOut, stop } = started)
}, LOCK_MS)
afterAll(() => stop?.())
beforeEach(() => {
  routers.behave({})
  routers.asked()
})

const oneMore = (units: bigint) => units + units / 100n

function callOf(raw: string) {
  const { to, data = '0x' } = parseTransaction(raw as Hex)
  expect(to?.toLowerCase()).toBe(stage.router)
  const { args } = decodeFunctionData({ abi: swapRouter.abi, data })
  return args?.[0] as { executor: Hex; minOut: bigint }
}

async function nothingStays() {
  for (const token of [stage.token('usdc'), stage.token('usdt'), stage.wrapped]) {
    for (const owner of [externalExecutor.address, swapRouter.address]) {
      expect(await stage.balance(token, owner)).toBe(0n)
      const args = [owner, outside] as const
      expect(await stage.client.readContract({ address: token, abi: erc20, functionName: 'allowance', args })).toBe(0n)
    }
  }
  expect(await stage.balance(NATIVE, externalExecutor.address)).toBe(0n)
}

describe('an outside router that pays more', () => {
  test.for([
    ['kyberswap', 'usdc', 'usdt', '1000', '0'],
    ['0x', 'native', 'usdc', '1.5', '0.5'],
    ['openocean', 'usdc', 'native', '2000', '0'],
  ] as const)(
    '%s is quoted, built, signed, and pays what was said: %s for %s',
    async ([name, source, target, amount, referrerFee]) => {
      const tokenOf = (symbol: string) => (symbol === 'native' ? NATIVE : stage.token(symbol))
      const [fromTokenAddress, toTokenAddress] = [tokenOf(source), tokenOf(target)]
      const asked = { fromTokenAddress, toTokenAddress, amount, slippage: '1', referrerFee }
      const pays = oneMore(await ownOut(asked))
      const others = { '0x': 'hangs', openocean: 'fails', kyberswap: 'nonsense' } as const
      routers.behave({ ...others, [name]: { pays, builds: calls({ pays }) } })
      const user = await stage.user(source === 'native' ? {} : { [source]: amount })
      const before = await stage.balance(toTokenAddress, user.address)
      const stock = await stage.balance(toTokenAddress, outside)
      const { quote, raws, hash } = await trade(stage, user, asked)

      expect(quote.toAmountRaw).toBe(pays.toString())
      expect(quote.alternatives).toEqual([{ source: name, toAmount: quote.toAmount }])
      expect(quote.routes).toHaveLength(1)
      expect(quote.routes[0].subRoutes[0].dexes).toMatchObject([{ name, percentage: 100 }])
      expect(quote.routes[0].subRoutes[0].dexes[0].address.toLowerCase()).toBe(outside)
      const { executor, minOut } = callOf(raws.at(-1) ?? '')
      expect(executor).toBe(externalExecutor.address)
      expect(minOut).toBe((BigInt(quote.receivedAmountRaw) * 99n) / 100n)

      const row = await stage.becomes(hash, 'finished')
      expect(row.amountTo).toBe(quote.receivedAmount)
      expect(await stage.balance(toTokenAddress, outside)).toBe(stock - pays)
      // Of the coin its gas went, too.
      if (target !== 'native')
        expect((await stage.balance(toTokenAddress, user.address)) - before).toBe(BigInt(quote.receivedAmountRaw))
      await nothingStays()
      if (source !== 'native') await approvesNobodyElse(raws, user.address, fromTokenAddress as Hex)
    },
  )

  async function approvesNobodyElse(raws: readonly string[], owner: Hex, token: Hex) {
    expect(raws).toHaveLength(2)
    const { data = '0x' } = parseTransaction((raws[0] ?? '0x') as Hex)
    const { args } = decodeFunctionData({ abi: erc20, data })
    expect(String(args?.[0]).toLowerCase()).toBe(stage.router)
    for (const spender of [outside, externalExecutor.address, stage.router])
      expect(
        await stage.client.readContract({
          address: token,
          abi: erc20,
          functionName: 'allowance',
          args: [owner, spender],
        }),
      ).toBe(0n)
  }

  test('is taken for less than our own minimum gain above our route by nobody', async () => {
    const asked = { ...coinForDollars(), referrerFee: '0' }
    const own = await ownOut(asked)
    // 4 hundredths of a percent, where 5 are asked; and more than anybody can pay.
    for (const pays of [own + (own * 4n) / 10_000n, own * 2n]) {
      routers.behave({ '0x': { pays, builds: calls({ pays }) } })
      const { body } = await stage.quote(asked)
      expect([body.toAmountRaw, body.alternatives.length]).toEqual([own.toString(), 1])
      const built = await stage.build({ ...asked, account: (await stage.user()).address })
      expect(callOf(built.body[0]).executor).toBe(swapExecutor.address)
    }
  })

  test('is sent only as it was built', async () => {
    const asked = coinForDollars()
    const pays = oneMore(await ownOut(asked))
    routers.behave({ '0x': { pays, builds: calls({ pays }) } })
    const user = await stage.user()
    const built = await stage.build({ ...asked, account: user.address })
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
    for (const some of changed) {
      const tampered = encodeFunctionData({ abi: swapRouter.abi, functionName: 'swap', args: some as never })
      const rawTx = await sign(user, raw, { data: tampered })
      const body = { ...sendBodyOf(stage, user, asked, '1'), rawTx }
      const sent = await stage.scenario.call('POST', '/v1/defi/send/swap', body)
      expect([sent.status, sent.body.code]).toEqual([400, 'RAW_TX_INVALID'])
    }
  })
})

const coinForDollars = (): Trade => ({
  ...{ fromTokenAddress: NATIVE, toTokenAddress: stage.token('usdc'), amount: '1.5', slippage: '1', referrerFee: '0' },
})

describe('our own route is built instead', () => {
  type Order = Parameters<ReturnType<AggregatorStage['calls']>>[0]
  type Building = (pays: bigint, own: bigint) => (order: Order) => Call | 'hangs' | 'fails'
  const lost = parseUnits('100000000', 6)
  test.for<[string, Building]>([
    ['it fails', () => () => 'fails'],
    ['it hangs', () => () => 'hangs'],
    ['its target is not published', (pays) => calls({ pays, changes: { target: elsewhere } })],
    ['its coins are not those of the swap', (pays) => calls({ pays, changes: { value: 1n } })],
    ['its call is none', (pays) => calls({ pays, changes: { calldata: '0x12' } })],
    ['its call reverts', (pays) => calls({ pays, takes: 1n })],
    ['it has not what it offers', () => calls({ pays: lost })],
    ['it pays less than the minimum', (pays) => calls({ pays: pays / 2n })],
    ['it pays less than our own route', (_pays, own) => calls({ pays: own - 1n })],
    ['it pays nothing', () => calls({ pays: 0n })],
  ])('where %s', async ([, building]) => {
    // So wide that the minimum alone would let the last but one through.
    const asked = { ...coinForDollars(), slippage: '5' }
    const own = await ownOut(asked)
    const pays = oneMore(own)
    routers.behave({ kyberswap: { pays, builds: building(pays, own) } })
    const user = await stage.user()
    const { quote, raws, hash } = await trade(stage, user, asked)
    expect(quote.toAmountRaw).toBe(pays.toString())
    expect(callOf(raws[0] ?? '').executor).toBe(swapExecutor.address)
    const row = await stage.becomes(hash, 'finished')
    expect(parseUnits(row.amountTo, 6)).toBe(own)
  })

  test('where its spender is not published', async () => {
    const asked = { ...coinForDollars(), fromTokenAddress: stage.token('usdt'), amount: '500' }
    const pays = oneMore(await ownOut(asked))
    const name: AggregatorName = '0x'
    routers.behave({ [name]: { pays, builds: calls({ pays, changes: { spender: elsewhere } }) } })
    const user = await stage.user({ usdt: '500' })
    const built = await stage.build({ ...asked, account: user.address })
    expect(callOf(built.body[1]).executor).toBe(swapExecutor.address)
  })

  test('and an account without the means is told so as ever', async () => {
    const asked = { ...coinForDollars(), amount: '1000' }
    const pays = oneMore(await ownOut(asked))
    routers.behave({ kyberswap: { pays, builds: calls({ pays }) } })
    const built = await stage.build({ ...asked, account: (await stage.user()).address })
    expect([built.status, built.body.code]).toEqual([422, 'INSUFFICIENT_BALANCE'])
  })
})
