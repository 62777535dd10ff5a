import { base58 } from '@scure/base'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lookupTableOf } from '../../../../sandbox/src/solana/lookup-table.ts'
import { listedMarket } from '../../../../sandbox/src/solana/solana-market.ts'
import { sol } from '../../../networks/sol.ts'
import { createRouteFinder } from '../../../src/adapters/router/find-route.ts'
import { createSolanaSwapChain } from '../../../src/adapters/solana/chain.ts'
import { fitsTransaction } from '../../../src/adapters/solana/prepare.ts'
import {
  decodeTransaction,
  TRANSACTION_ACCOUNTS_MAX,
  TRANSACTION_BYTES_MAX,
} from '../../../src/adapters/solana/transaction.ts'
import { resolveNetwork } from '../../../src/core/domain/network.ts'
import type { RoutedSwap, RouteOrder } from '../../../src/swap/ports/router.ts'
import type { MeteoraDlmmRoutePool } from '../../../src/swap/routing/pools/solana/meteora-dlmm.ts'
import { startFaultyNode } from '../chains/evm/faulty-node.ts'
import { createUser, type Market, orderOf, startMarket, tokenOf } from './solana-market.fixture.ts'

/* Routes whose accounts fit into a transaction only by the lookup table that the sandbox has. */

const [table = ''] = listedMarket.lookupTables
const TABLES_MS = 60_000
const SLOT_MS = 400
/** COIN trades in PumpSwap alone, and both pools together name too many accounts. */
const coins = 800_000_000_000n

let market: Market
let without: Market

beforeAll(async () => {
  market = await startMarket({ lookupTables: [table] })
  without = await startMarket()
})
afterAll(async () => {
  await market?.stop()
  await without?.stop()
})

async function route(on: Market, from: string, to: string, amountIn: bigint, changes: Partial<RouteOrder> = {}) {
  await on.pools.advance()
  const at = on.pools.current()
  if (at === null) throw new Error('the pools are not read')
  const order = { network: 'sol', tokenIn: tokenOf(from), tokenOut: tokenOf(to), amountIn, slippagePpm: 5_000 }
  return createRouteFinder({ budgetMs: 2_000 })(at, { ...order, ...changes })
}

const coinForFour = (on: Market) => route(on, 'COIN', 'FOUR', coins)
const pair = () => [tokenOf('COIN'), tokenOf('FOUR')] as const
const tooLarge = { code: 'NO_ROUTE', message: 'the route needs a transaction of more than 1232 bytes' }

/** Replaces the table's account on the chain, and passes the time after which tables are read again. */
function writeTable(changes: Parameters<typeof lookupTableOf>[2], addresses: readonly string[]): void {
  market.node.bank.writeAccount(lookupTableOf(table as never, addresses as never, changes))
  market.mine(Math.ceil(TABLES_MS / SLOT_MS) + 1)
}

/** The addresses that the table has on the chain. */
function readTable(): readonly string[] {
  const account = market.node.bank.readAccount(table as never)
  if (!account.exists) throw new Error('the sandbox has no table')
  const bytes = account.data.slice(56)
  return Array.from({ length: bytes.length / 32 }, (_, n) => base58.encode(bytes.slice(32 * n, 32 * n + 32)))
}

async function prepareCoinForFour(routed: RoutedSwap) {
  const user = await market.createFunded(1_000_000_000n, { COIN: coins })
  return { user, prepared: await market.chain.prepare(orderOf(user, pair(), routed.swaps)) }
}

test('a route that no transaction can hold without the table is built with it, and pays what was quoted', async () => {
  await expect(coinForFour(without)).rejects.toMatchObject({
    message: 'a transaction cannot hold all accounts of the pools between the two tokens',
  })
  const routed = await coinForFour(market)
  expect(routed.swaps.map(({ pool }) => pool.kind)).toContain('pump-swap')
  const { user, prepared } = await prepareCoinForFour(routed)
  expect(prepared.simulatedOut).toBe(routed.amountOut)
  const bytes = Buffer.from(prepared.swap, 'base64')
  expect(bytes.length).toBeLessThanOrEqual(TRANSACTION_BYTES_MAX)
  expect(decodeTransaction(bytes).lookups.map((one) => one.table)).toEqual([table])
  const { action, seen } = await market.send(user, prepared.swap)
  expect(action).toMatchObject({ kind: 'swap', tokenIn: tokenOf('COIN'), tokenOut: tokenOf('FOUR'), amountIn: coins })
  expect(seen).toMatchObject({ kind: 'included', ok: true, received: routed.amountOut })
})

test('a large amount is split over more pools than without the table, and gets more', async () => {
  const amountIn = 4_000_000_000_000n
  const [few, many] = [await route(without, 'SOL', 'USDC', amountIn), await route(market, 'SOL', 'USDC', amountIn)]
  expect(many.swaps).toHaveLength(4)
  expect(few.swaps.length).toBeLessThan(4)
  expect(many.amountOut).toBeGreaterThan(few.amountOut)
  const user = await market.createFunded(amountIn + 1_000_000_000n)
  const terms = { feePpm: 0, feeTo: null }
  const order = orderOf(user, [tokenOf('SOL'), tokenOf('USDC')], many.swaps, terms)
  const { swap } = await market.chain.prepare(order)
  expect((await market.send(user, swap)).seen).toMatchObject({ kind: 'included', ok: true, received: many.amountOut })
})

test('a transaction that fits without the table does not name it', async () => {
  const amountIn = 1_000_000_000n
  const routed = await route(market, 'SOL', 'JUP', amountIn)
  const user = await market.createFunded(3n * amountIn)
  const { swap } = await market.chain.prepare(orderOf(user, [tokenOf('SOL'), tokenOf('JUP')], routed.swaps))
  expect(decodeTransaction(Buffer.from(swap, 'base64')).lookups).toEqual([])
})

/** A pool with accounts of its own, which has what the given one has. */
function copyOf(pool: MeteoraDlmmRoutePool, n: number): MeteoraDlmmRoutePool {
  const addressOf = (m: number) => base58.encode(new Uint8Array(32).fill(100 + 10 * n + m))
  return {
    ...{ ...pool, address: addressOf(0), vaults: [addressOf(1), addressOf(2)], oracle: addressOf(3) },
    arrays: pool.arrays.map((array, m) => ({ ...array, address: addressOf(4 + m) })),
  }
}

test('a route never names more accounts than a validator locks', async () => {
  const routed = await route(market, 'SOL', 'USDC', 4_000_000_000_000n)
  const swap = routed.swaps.find(({ pool }) => pool.kind === 'meteora-dlmm')
  if (swap?.pool.kind !== 'meteora-dlmm') throw new Error('the route has no pool of DLMM')
  const { pool } = swap
  const copies = Array.from({ length: 10 }, (_, n) => copyOf(pool, n))
  const named = copies.flatMap(({ address, vaults, oracle, arrays }) => [
    ...[address, ...vaults, oracle],
    ...arrays.map((one) => one.address),
  ])
  const terms = { tokenIn: tokenOf('SOL'), tokenOut: tokenOf('USDC'), paysFee: false }
  const fits = (count: number) =>
    fitsTransaction(
      copies.slice(0, count).map((copy) => ({ ...swap, pool: copy })),
      terms,
      [{ address: table, addresses: [...readTable(), ...named] }],
    )
  // Each pool adds its address, two vaults, an oracle and its arrays to the accounts of the user and of the programs.
  const counts = copies.map((_, index) => index + 1).filter(fits)
  expect(counts[0]).toBe(1)
  const perPool = 4 + pool.arrays.length
  expect(counts.length).toBeLessThanOrEqual(Math.floor(TRANSACTION_ACCOUNTS_MAX / perPool))
  expect(counts.length).toBeLessThan(copies.length)
})

test('a table that lacks the accounts changes nothing', async () => {
  const addresses = readTable()
  const routed = await coinForFour(market)
  writeTable({}, addresses.slice(0, 3))
  await expect(coinForFour(market)).rejects.toMatchObject({ code: 'NO_ROUTE' })
  await expect(prepareCoinForFour(routed)).rejects.toMatchObject(tooLarge)
  writeTable({}, addresses)
  expect((await coinForFour(market)).amountOut).toBe(routed.amountOut)
})

test('a table that is deactivated is not used', async () => {
  const addresses = readTable()
  const routed = await coinForFour(market)
  writeTable({ deactivationSlot: BigInt(market.node.bank.slot()) }, addresses)
  await expect(coinForFour(market)).rejects.toMatchObject({ code: 'NO_ROUTE' })
  await expect(prepareCoinForFour(routed)).rejects.toMatchObject(tooLarge)
  writeTable({}, addresses)
})

test('a table for which a node shows other addresses is not used, and a transaction that names it is refused', async () => {
  const faulty = await startFaultyNode(market.node.rpcUrl)
  const addresses = readTable()
  const network = resolveNetwork(sol, 'sandbox')
  const chain = createSolanaSwapChain({ network, rpcUrls: [market.node.rpcUrl, faulty.url], lookupTables: [table] })
  const routed = await coinForFour(market)
  const { user, prepared } = await prepareCoinForFour(routed)
  const raw = market.sign(user, prepared.swap)
  expect((await chain.readSigned(raw)).action).toMatchObject({ kind: 'swap' })

  const thief = createUser().address
  faulty.set(({ method, params }) => {
    if (method !== 'getMultipleAccounts' || !(params[0] as string[]).includes(table)) return undefined
    const account = lookupTableOf(table as never, addresses.map(() => thief) as never)
    const data = account.exists ? Buffer.from(account.data).toString('base64') : ''
    const owner = 'AddressLookupTab1e1111111111111111111111111'
    const value = [{ data: [data, 'base64'], owner, lamports: 1, executable: false, rentEpoch: 0, space: data.length }]
    return { result: { context: { slot: 1 }, value } }
  })
  await expect(chain.prepare(orderOf(user, pair(), routed.swaps))).rejects.toMatchObject(tooLarge)
  await expect(chain.readSigned(raw)).rejects.toMatchObject({ code: 'RAW_TX_INVALID' })
  // Recorded bytes were checked: they are sent again without the table.
  expect(await chain.broadcast(raw)).toEqual({ kind: 'accepted' })
  await faulty.stop()
})
