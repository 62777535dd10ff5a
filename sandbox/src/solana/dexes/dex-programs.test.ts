import type { Address } from '@solana/kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { priceOf } from '../../prices.ts'
import { marketPools, testTokens } from '../solana-market.ts'
import { startSolanaNode } from '../solana-node.ts'
import { planTrade } from '../solana-trader.ts'
import { ANCHOR, type ReadAccount } from './dex-program.ts'
import { addressOf, type MarketPool } from './market-pool.ts'

type Node = Awaited<ReturnType<typeof startSolanaNode>>
let node: Node

beforeAll(async () => {
  node = await startSolanaNode({
    port: 0,
    log: () => undefined,

    deploysMarket: true,
  })
  node.mine(40)
})
afterAll(() => node?.stop())

const read: ReadAccount = (address) => node.bank.readAccount(address)
const owner = addressOf('owner')

/** The first pool of a token. */
function poolOf(ticker: string): MarketPool {
  const found = marketPools.find(({ tickers }) => tickers.includes(ticker))
  if (found === undefined) throw new Error(`no pool of ${ticker}`)
  return found
}

/** The vaults stand for the owner's accounts, of whose content only the mint matters here. */
function call(pool: MarketPool, inputIndex: 0 | 1, change: (accounts: Address[]) => void, signers = new Set([owner])) {
  const [source, target] = inputIndex === 0 ? pool.vaults : [pool.vaults[1], pool.vaults[0]]
  const { accounts = [], data } = pool.swap(read, { owner, source, target, inputIndex, units: 1_000_000n })
  const addresses = accounts.map(({ address }) => address)
  change(addresses)
  const instruction = { accounts: addresses, data: new Uint8Array(data ?? []), signers }
  return pool.program.execute(instruction, read, node.bank.clock())
}

/** Places in the instruction that the program checks: of accounts that are the pool's or the program's own. */
const checked = {
  tick: [1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13],
  bins: [0, 1, 2, 3, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16],
  four: [0, 1, 2, 3, 4],
  span: [0, 1, 4, 5, 6, 7, 9, 10, 11, 12, 13],
  coin: [0, 2, 3, 4, 7, 8, 9, 11, 12, 15, 16, 19],
} as const

describe.each(Object.entries(checked))('the program of the pool of %s', (ticker, places) => {
  test('swaps in both directions', () => {
    for (const inputIndex of [0, 1] as const)
      expect(call(poolOf(ticker), inputIndex, () => undefined)).toMatchObject({ error: null })
  })

  test.each(places)('refuses another account in place %i', (place) => {
    const foreign = poolOf('levy').address
    const outcome = call(poolOf(ticker), 0, (accounts) => {
      expect(accounts[place]).toBeDefined()
      accounts[place] = foreign
    })
    expect(outcome.error).toBeGreaterThan(0)
  })

  test('needs the signature of the owner', () => {
    expect(call(poolOf(ticker), 0, () => undefined, new Set())).toEqual({ error: ANCHOR.notSigner })
  })
})

describe('each pool of the market', () => {
  const named = marketPools.map((pool) => [pool.tickers.join('-'), pool.program.title, pool] as const)

  test.each(named)('%s of %s begins at the price of the sandbox', (_, __, pool) => {
    const worthOf = (side: 0 | 1) => Number(priceOf(pool.tickers[side], null)) / 10 ** pool.mints[side].decimals
    expect(Math.abs((pool.readPrice(read) * worthOf(1)) / worthOf(0) - 1)).toBeLessThan(0.003)
    expect(planTrade(node.bank, pool, null)).toBeNull()
  })

  test.each(named)('%s of %s is brought back to that price by the trader', async (_, __, pool) => {
    // A tenth of what the pool holds of its first token moves the price beyond every fee.
    const held = read(pool.vaults[0])
    const units = held.exists ? Buffer.from(held.data).readBigUInt64LE(64) / 10n : 0n
    await node.trade(pool, { inputIndex: 0, units })
    node.mine(1)
    const plan = planTrade(node.bank, pool, null)
    expect(plan?.inputIndex).toBe(1)
    if (plan !== null) await node.trade(pool, plan)
    node.mine(1)
    expect(planTrade(node.bank, pool, null)).toBeNull()
  })
})

test('test tokens have one DEX each', () => {
  const dexesOf = (ticker: string) =>
    new Set(marketPools.filter(({ tickers }) => tickers.includes(ticker)).map(({ program }) => program.title))
  for (const { ticker } of testTokens) expect(dexesOf(ticker).size, ticker).toBe(1)
})
