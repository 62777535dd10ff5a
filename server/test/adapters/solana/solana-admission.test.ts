import { afterEach, beforeEach, expect, test } from 'vitest'
import { tokenProgram } from '../../../src/adapters/solana/program-address.ts'
import { catchUp, type Market, SOL, startMarket } from './solana-market.fixture.ts'

/* Pools that anybody may create beside those of the sandbox's market. */

let market: Market
let meme = ''

beforeEach(async () => {
  market = await startMarket()
  meme = market.unlistedMint
})
afterEach(() => market?.stop())

const dexPoolsOf = (token: string): readonly string[] =>
  market
    .currentPools()
    .filter(({ tokens }) => tokens.includes(token) && tokens.includes(SOL))
    .map(({ id }) => id)

test('follows at most eight pools of a pair, those in which the most lies', async () => {
  const create = (name: string, lamports: bigint) =>
    market.addPool({ name, mint: meme, program: tokenProgram, lamports, units: lamports * 5n })
  const shallow = Array.from({ length: 12 }, (_, index) => create(`shallow ${index}`, 1_000_000_000n + BigInt(index)))
  const deep = Array.from({ length: 7 }, (_, index) => create(`deep ${index}`, 100_000_000_000n))
  await market.request(meme)
  const followed = dexPoolsOf(meme)
  // The pool of the market holds the most.
  expect(followed).toHaveLength(8)
  expect(followed).toEqual(expect.arrayContaining(deep))
  expect(followed.filter((id) => shallow.includes(id))).toEqual([])
})

test('a pool counts for the connector token in it, not for what it holds of the other', async () => {
  const create = (name: string, lamports: bigint, units: bigint) =>
    market.addPool({ name, mint: meme, program: tokenProgram, lamports, units })
  const boasting = Array.from({ length: 8 }, (_, index) => create(`boasting ${index}`, 1_000n, 10n ** 18n))
  const real = Array.from({ length: 7 }, (_, index) => create(`real ${index}`, 50_000_000_000n, 10n ** 9n))
  await market.request(meme)
  expect(dexPoolsOf(meme)).toEqual(expect.arrayContaining(real))
  expect(dexPoolsOf(meme).filter((id) => boasting.includes(id))).toEqual([])
})

test('pools of an unlisted token take no place of a listed one', async () => {
  const before = market.currentPools().map(({ id }) => id)
  for (let index = 0; index < 20; index++)
    market.addPool({ name: `flood ${index}`, mint: meme, program: tokenProgram, lamports: 10n ** 15n })
  await market.request(meme)
  expect(market.currentPools().map(({ id }) => id)).toEqual(expect.arrayContaining(before))
})

test('a search that the node refuses does not stop the reading of known pools', async () => {
  const known = market.currentPools().length
  const at = market.pools.current()?.block.height ?? 0
  market.mine(3)
  // No address: the node answers the search with an error.
  market.pools.request('not an address')
  await expect(catchUp(market.pools)).rejects.toThrow()
  expect(market.currentPools()).toHaveLength(known)
  expect(market.pools.current()?.block.height).toBeGreaterThan(at)
})
