import { bcs } from '@mysten/sui/bcs'
import type { Ed25519Keypair } from '@mysten/sui/keypairs/ed25519'
import { fromBase64 } from '@mysten/sui/utils'
import {
  DEEPBOOK_GAS_PRICE_NAME,
  type DeepbookInner,
  deepbookGasPriceSchema,
  deepbookPoolSchema,
} from '@swapyard/lib/pools/sui/deepbook-objects.ts'
import { expect, test } from 'vitest'
import { placeOrders } from '../../../../sandbox/src/sui/books.ts'
import { suiTokens } from '../../../../sandbox/src/sui/coins.ts'
import { setMakerOrders } from '../../../../sandbox/src/sui/deepbook-pool.ts'
import { readInner, writeInner } from '../../../../sandbox/src/sui/deepbook-state.ts'
import { createRouteMarkets } from '../../../src/adapters/router/route-markets.ts'
import { present } from '../../../src/lib/assert.ts'
import type { Log } from '../../../src/lib/log.ts'
import type { SwapOrder } from '../../../src/swap/ports/swap-chain.ts'
import { executeRoute, type RouteSwap, SHARE_ALL } from '../../../src/swap/routing/execute.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { startSui } from './start-sui.ts'

const SUI = '0x2::sui::SUI'
const [usdc, usdt, wbtc] = suiTokens.map(({ type }) => type) as [string, string, string]
const recipient = `0x${'ab'.repeat(32)}`
const feeTo = `0x${'fe'.repeat(32)}`
const half = 1 << 23

async function start() {
  const warnings: object[] = []
  const log = { warn: (fields: object) => void warnings.push(fields) }
  const started = await startSui(['cetus', 'deepbook', 'turbos'], log as unknown as Log)
  const { pools, chain, node, createFunded } = started
  const poolOf = (kind: Pool['kind'], first: string, second: string): Pool => {
    const found = pools
      .current()
      ?.pools.find((pool) => pool.kind === kind && pool.tokens.includes(first) && pool.tokens.includes(second))
    if (found === undefined) throw new Error(`no pool of ${kind}`)
    return found
  }
  const swapOf = (kind: Pool['kind'], from: string, to: string, share = SHARE_ALL): RouteSwap => {
    const pool = poolOf(kind, from, to)
    return { pool, tokenIn: pool.tokens.indexOf(from), tokenOut: pool.tokens.indexOf(to), share }
  }
  const { keypair, address } = createFunded(100_000_000_000n)
  return {
    ...{ ...started, keypair, address, swapOf, warnings },
    orderFor(swaps: readonly RouteSwap[], tokenIn: string, tokenOut: string, amountIn: bigint) {
      const executed = executeRoute(swaps, tokenIn, tokenOut, amountIn)
      if (executed.amountOut === null) throw new Error('the route cannot trade')
      const order: SwapOrder = {
        ...{ account: address, recipient, tokenIn, tokenOut, amountIn, minReceived: executed.amountOut },
        ...{ feePpm: 0, feeTo: null, ref: `0x${'7e'.repeat(32)}`, expiry: null, swaps: executed.swaps },
      }
      return { order, expected: executed.amountOut }
    },
    /** `payment`: the ids of the coins that pay the gas. */
    async send(order: SwapOrder, signer: Ed25519Keypair = keypair) {
      const { swap, simulatedOut } = await chain.prepare(order)
      const payment = bcs.TransactionData.parse(fromBase64(swap)).V1?.gasData.payment.map(({ objectId }) => objectId)
      const raw = JSON.stringify(await signer.signTransaction(fromBase64(swap)))
      const signed = await chain.readSigned(raw)
      expect(await chain.broadcast(raw)).toEqual({ kind: 'accepted' })
      return { simulatedOut, payment, signed, received: node.readBalance(recipient, order.tokenOut) }
    },
  }
}

test('two quotes at the same pools search the same market', async () => {
  const { pools } = await start()
  const findMarket = createRouteMarkets()
  const next = () => findMarket(present(pools.current(), 'the pools'), { tokenIn: SUI, tokenOut: usdc })
  expect(next()).toBe(next())
})

test('a route over two DEXes pays to the last unit what the pools compute, and the sender gets the rest of the lots', async () => {
  const { send, orderFor, swapOf, node, address } = await start()
  // SUI → USDC in Cetus → WBTC in DeepBook, whose lots leave a rest of USDC.
  const swaps = [swapOf('cetus', SUI, usdc), swapOf('deepbook', usdc, wbtc)]
  const { order, expected } = orderFor(swaps, SUI, wbtc, 50_000_000_000n)
  const { received, simulatedOut, signed } = await send(order)
  expect([received, simulatedOut]).toEqual([expected, expected])
  // 50 SUI are 96 dollars, a lot of WBTC less than one.
  const rest = node.readBalance(address, usdc)
  expect(rest).toBeGreaterThan(0n)
  expect(rest).toBeLessThan(1_500_000n)
  expect(node.readBalance(recipient, usdc)).toBe(0n)
  expect(signed.action).toMatchObject({
    pools: swaps.map(({ pool }) => pool.id),
    routeTokens: swaps.flatMap(({ pool }) => pool.tokens),
  })
})

test('the rest of the input returns to the coin that paid it: SUI to the gas coin, others to the coin of the user', async () => {
  const { send, orderFor, swapOf, node, address, client } = await start()
  const native = orderFor([swapOf('deepbook', SUI, usdc)], SUI, usdc, 10_055_000_000n)
  const before = node.readBalance(address, SUI)
  const first = await send(native.order)
  expect(first.received).toBe(native.expected)
  // 10 SUI and the fee of 1.25 times 0.1 % of them; the rest stays, less the gas.
  const spent = before - node.readBalance(address, SUI)
  expect(spent).toBeGreaterThan(10_012_500_000n)
  expect(spent).toBeLessThan(10_055_000_000n)

  const coin = node.mint(address, 1_000_000_000n, usdc)
  const { order, expected } = orderFor([swapOf('deepbook', usdc, SUI)], usdc, SUI, 900_000_000n)
  const second = await send({ ...order, recipient: address })
  expect(second.signed.action).toMatchObject({ recipient: address })
  const { objects } = await client.listCoins({ owner: address, coinType: usdc })
  expect(objects.map(({ objectId }) => objectId)).toEqual([coin.id])
  const left = BigInt(objects[0]?.balance ?? 0)
  // Less than a lot of 0.1 SUI is not used.
  expect(left).toBeGreaterThanOrEqual(100_000_000n)
  expect(left).toBeLessThan(100_000_000n + 250_000n)
  expect(expected % 100_000_000n).toBe(0n)
})

test('three coins of SUI that each miss the amount pay it together, and what is left is in the largest', async () => {
  const { send, orderFor, swapOf, node, client, createFunded } = await start()
  const { keypair, address, coin } = createFunded(60_000_000_000n)
  const smaller = [40_000_000_000n, 50_000_000_000n].map((units) => node.mint(address, units))
  const { order, expected } = orderFor([swapOf('cetus', SUI, usdc)], SUI, usdc, 140_000_000_000n)
  const { payment, received } = await send({ ...order, account: address }, keypair)
  expect(payment).toEqual([coin, ...smaller.toReversed()].map(({ id }) => id))
  expect(received).toBe(expected)
  const { objects } = await client.listCoins({ owner: address, coinType: SUI })
  expect(objects.map(({ objectId }) => objectId)).toEqual([coin.id])
  // 10 SUI less the gas.
  const left = BigInt(objects[0]?.balance ?? 0)
  expect(left).toBe(node.readBalance(address, SUI))
  expect(left).toBeLessThan(10_000_000_000n)
  expect(left).toBeGreaterThan(9_950_000_000n)
})

test('250 coins pay at most: fewer than the chain allows for gas, and the largest', async () => {
  const { send, orderFor, chain, swapOf, node, client, createFunded } = await start()
  const { keypair, address: account, coin } = createFunded(2_000_000_000n)
  const countCoins = async (coinType: string): Promise<number> => {
    const { objects } = await client.listCoins({ owner: account, coinType, limit: 200 })
    return objects.length
  }
  const ofSui = (amountIn: bigint) => ({
    ...{ ...orderFor([swapOf('cetus', SUI, usdc)], SUI, usdc, amountIn).order, account },
  })
  for (let n = 0; n < 259; n++) node.mint(account, 1_000_000_000n)
  // 261 SUI in 260 coins, and 251 SUI in the largest 250.
  const shortage = { code: 'INSUFFICIENT_BALANCE', shortage: { of: 'native', available: 251_000_000_000n } }
  await expect(chain.prepare(ofSui(252_000_000_000n))).rejects.toMatchObject(shortage)
  // The amount alone is there, but not the gas.
  await expect(chain.prepare(ofSui(251_000_000_000n))).rejects.toMatchObject(shortage)
  const { payment } = await send(ofSui(250_500_000_000n), keypair)
  expect([payment?.length, payment?.[0]]).toEqual([250, coin.id])
  expect(await countCoins(SUI)).toBe(11)

  for (let n = 0; n < 260; n++) node.mint(account, 1_000_000n, usdc)
  const ofUsdc = (amountIn: bigint) => ({
    ...{ ...orderFor([swapOf('cetus', usdc, SUI)], usdc, SUI, amountIn).order, account },
  })
  await expect(chain.prepare(ofUsdc(251_000_000n))).rejects.toMatchObject({
    ...{ code: 'INSUFFICIENT_BALANCE', shortage: { of: 'token', required: 251_000_000n, available: 250_000_000n } },
  })
  await send(ofUsdc(250_000_000n), keypair)
  expect(await countCoins(usdc)).toBe(11)
})

test('an amount is split among DEXes and joined again, through several hops', async () => {
  const { send, orderFor, swapOf, node, address } = await start()
  const swaps = [
    swapOf('cetus', wbtc, usdc, half),
    swapOf('deepbook', wbtc, usdc),
    swapOf('cetus', usdc, usdt, half),
    swapOf('deepbook', usdc, usdt),
  ]
  node.mint(address, 30_000_000n, wbtc)
  node.mint(address, 20_012_345n, wbtc)
  const { order, expected } = orderFor(swaps, wbtc, usdt, 50_012_345n)
  const { received } = await send({ ...order, feeTo, feePpm: 5_000, minReceived: (expected * 994n) / 1_000n })
  const fee = node.readBalance(feeTo, usdt)
  expect(received + fee).toBe(expected)
  expect(Number(fee) / Number(expected)).toBeCloseTo(0.005, 8)
  expect(node.readBalance(address, wbtc)).toBeLessThan(1_002n)
})

test('a route aborts if an order book pays less than the minimum, and only the gas is paid', async () => {
  const { orderFor, swapOf, chain, market, node, address, keypair } = await start()
  const { order } = orderFor([swapOf('cetus', SUI, usdc), swapOf('deepbook', usdc, wbtc)], SUI, wbtc, 50_000_000_000n)
  const { swap } = await chain.prepare(order)
  const raw = JSON.stringify(await keypair.signTransaction(fromBase64(swap)))
  const book = market.books.find(({ coins }) => coins[0].type === wbtc)
  if (book === undefined) throw new Error('the market has a book of WBTC')
  // The makers cancel their orders.
  setMakerOrders(node, book.id, book.plan, { bids: [], asks: [] })
  const before = node.readBalance(address, SUI)
  await chain.broadcast(raw)
  node.addCheckpoints(1)
  const { hash } = await chain.readSigned(raw)
  expect(await chain.observe(hash)).toMatchObject({ kind: 'included', ok: false })
  expect(before - node.readBalance(address, SUI)).toBeLessThan(10_000_000n)
  expect([usdc, wbtc].map((coin) => node.readBalance(recipient, coin) + node.readBalance(address, coin))).toEqual([
    0n,
    0n,
  ])
  await expect(chain.prepare(order)).rejects.toMatchObject({ code: 'SIMULATION_FAILED' })
})

test('a book is read again when its makers change their orders, and names the version of its object', async () => {
  const { pools, market, node, swapOf } = await start()
  const read = () => swapOf('deepbook', SUI, usdc).pool
  const before = read()
  await pools.advance()
  expect(read()).toBe(before)
  const book = market.books.find(({ coins }) => coins[0].ticker === 'sui')
  if (book === undefined) throw new Error('the market has a book of SUI')
  placeOrders(node, book, 1_800_000_000)
  await pools.advance()
  const after = read()
  if (before.kind !== 'deepbook' || after.kind !== 'deepbook') throw new Error('a book is of DeepBook')
  expect(after.objectVersion).toBe(before.objectVersion + 1n)
  // 4, 16, 24 and 36 orders, on each side from the best price on.
  expect([after.bids.length, after.asks.length]).toEqual([80, 80])
  expect(after.asks.every(({ price }, n) => n === 0 || price >= (after.asks[n - 1]?.price ?? 0n))).toBe(true)
  expect(after.bids.every(({ price }, n) => n === 0 || price <= (after.bids[n - 1]?.price ?? 0n))).toBe(true)
  expect(after.bids[0]?.price).toBeLessThan(after.asks[0]?.price ?? 0n)
  expect(after).toMatchObject({
    takerFee: 1_000_000n,
    lotSize: 100_000_000n,
    minSize: 1_000_000_000n,
    gasPricePenalty: 0n,
  })
  expect(pools.liquidity().get(wbtc)).toBeGreaterThan(500_000)
})

test('a route goes through all three DEXes, and through both directions of Turbos', async () => {
  const { send, orderFor, swapOf, node, address } = await start()
  const swaps = [
    swapOf('deepbook', wbtc, usdc),
    swapOf('turbos', usdc, SUI, half),
    swapOf('cetus', usdc, SUI),
    swapOf('turbos', SUI, usdt),
  ]
  node.mint(address, 1_000_000n, wbtc)
  const { order, expected } = orderFor(swaps, wbtc, usdt, 1_000_000n)
  const { received, simulatedOut, signed } = await send(order)
  expect([received, simulatedOut]).toEqual([expected, expected])
  expect(signed.action).toMatchObject({ routeTokens: swaps.flatMap(({ pool }) => pool.tokens) })
  // Nothing of what lies between is left with the user.
  expect([usdc, usdt].map((coin) => node.readBalance(address, coin))).toEqual([0n, 0n])
})

/** Changes the state of a book, as its administrators and time do. */
function changeState(
  { node, market }: Pick<Awaited<ReturnType<typeof startSui>>, 'node' | 'market'>,
  change: (inner: DeepbookInner) => DeepbookInner,
) {
  const book = market.books.find(({ coins }) => coins[0].ticker === 'sui')
  if (book === undefined) throw new Error('the market has a book of SUI')
  node.changeFields(book.id, (fields, contents) => {
    const pool = deepbookPoolSchema.parse(contents)
    writeInner(fields, pool, book.plan, change(readInner(fields, pool)))
  })
}

test('expired orders count for nothing, from the moment on at which they expire', async () => {
  const started = await start()
  const { node, market, pools, tick, send, orderFor, swapOf } = started
  const book = market.books.find(({ coins }) => coins[0].ticker === 'sui')
  if (book === undefined) throw new Error('the market has a book of SUI')
  const maker = `0x${'a1'.repeat(32)}`
  const bid = { maker, quantity: 100_000_000_000n }
  setMakerOrders(node, book.id, book.plan, {
    bids: [
      { ...bid, price: 1_900_000n, expiresAtMs: 1_800_000_001_000n },
      { ...bid, price: 1_800_000n },
    ],
    asks: [],
  })
  await pools.advance()
  const swap = () => [swapOf('deepbook', SUI, usdc)]
  // 9.9 of the 10 SUI are traded: the rest is less than a lot and the fee.
  expect(orderFor(swap(), SUI, usdc, 10_000_000_000n).expected).toBe(18_810_000n)
  tick(2_000)
  await pools.advance()
  const { order, expected } = orderFor(swap(), SUI, usdc, 10_000_000_000n)
  expect(expected).toBe(17_820_000n)
  expect((await send(order)).received).toBe(expected)
})

test('a gas price far above the mean costs the penalty of the book', async () => {
  const { node, market, pools, send, orderFor, swapOf } = await start()
  const book = market.books.find(({ coins }) => coins[0].ticker === 'sui')
  if (book === undefined) throw new Error('the market has a book of SUI')
  const state = {
    ...{ mean: 900_000_000_000n, variance: 1_000_000_000n, alpha: 10_000_000n, zScoreThreshold: 3_000_000_000n },
    ...{ additionalTakerFee: 1_000_000n, lastUpdatedMs: 0n, isEnabled: true },
  }
  node.changeFields(book.id, (fields) =>
    fields.set(book.id, DEEPBOOK_GAS_PRICE_NAME, {
      type: `${book.plan.address}::ewma::EWMAState`,
      bytes: deepbookGasPriceSchema.serialize(state).toBytes(),
    }),
  )
  await pools.advance()
  const swap = swapOf('deepbook', SUI, usdc)
  expect(swap.pool).toMatchObject({ takerFee: 1_000_000n, gasPricePenalty: 1_000_000n })
  const { order, expected } = orderFor([swap], SUI, usdc, 10_050_000_000n)
  const before = node.readBalance(order.account, SUI)
  expect((await send(order)).received).toBe(expected)
  // 10 SUI and 1.25 times twice 0.1 % of them, and the gas.
  expect(before - node.readBalance(order.account, SUI)).toBeGreaterThanOrEqual(10_025_000_000n)
})

test('a book whose fee changes with the epoch is not used before its first swap in it', async () => {
  const started = await start()
  const { node, pools, tick, send, orderFor, swapOf } = started
  const { order } = orderFor([swapOf('deepbook', SUI, usdc)], SUI, usdc, 10_050_000_000n)
  changeState(started, (inner) => {
    const { governance } = inner.state
    const nextTradeParams = { ...governance.nextTradeParams, takerFee: '500000' }
    return { ...inner, state: { ...inner.state, governance: { ...governance, nextTradeParams } } }
  })
  await pools.advance()
  expect(swapOf('deepbook', SUI, usdc).pool).toMatchObject({ takerFee: 1_000_000n })
  node.endEpoch()
  tick()
  await pools.advance()
  expect(() => swapOf('deepbook', SUI, usdc)).toThrow('no pool of deepbook')
  await send({ ...order, minReceived: 1n })
  await pools.advance()
  const swap = swapOf('deepbook', SUI, usdc)
  expect(swap.pool).toMatchObject({ takerFee: 500_000n })
  const next = orderFor([swap], SUI, usdc, 10_050_000_000n)
  const before = node.readBalance(recipient, usdc)
  expect((await send(next.order)).received - before).toBe(next.expected)
})

test("a pool that does not allow calls by the package's version gives no route, and the log names both versions", async () => {
  const started = await start()
  const { pools, chain, orderFor, swapOf, warnings } = started
  const { order } = orderFor([swapOf('deepbook', SUI, usdc)], SUI, usdc, 10_050_000_000n)
  await chain.prepare(order)
  expect(warnings).toEqual([])
  // DeepBook's administrators disable version 8, as with each upgrade a while after it.
  changeState(started, (inner) => ({ ...inner, allowedVersions: ['9', '10'] }))
  // The contract aborts with EPackageVersionDisabled.
  await expect(chain.prepare(order)).rejects.toMatchObject({ code: 'SIMULATION_FAILED' })
  for (let turn = 0; turn < 2; turn++) await pools.advance()
  expect(() => swapOf('deepbook', SUI, usdc)).toThrow('no pool of deepbook')
  expect(swapOf('deepbook', usdt, usdc).pool.dex).toBe('deepbook')
  expect(warnings).toEqual([
    { network: 'sui', dex: 'deepbook', fault: expect.stringMatching(/ 9, 10 .* is version 8$/) },
  ])
  changeState(started, (inner) => ({ ...inner, allowedVersions: ['8', '9'] }))
  await pools.advance()
  expect(swapOf('deepbook', SUI, usdc).pool.dex).toBe('deepbook')
})
