import type { Address } from '@solana/kit'
import { priceOf } from '../prices.ts'
import type { Bank } from './bank.ts'
import type { DexProgram } from './dexes/dex-program.ts'
import { addressOf, bytesOf, type MarketPool, type Mint, type PoolPlan } from './dexes/market-pool.ts'
import { createDammPool, type DammPlan, meteoraDammV2 } from './dexes/meteora-damm-v2.ts'
import { createDlmmPool, meteoraDlmm } from './dexes/meteora-dlmm.ts'
import { createPumpPool, pumpSwap } from './dexes/pump-swap.ts'
import { createAmmV4Pool, raydiumAmmV4 } from './dexes/raydium-amm-v4.ts'
import { clmmConfig, createClmmPool, raydiumClmm } from './dexes/raydium-clmm.ts'
import { cpmmConfig, createCpmmPool, raydiumCpmm } from './dexes/raydium-cpmm.ts'
import { metadataAccount, mintAccount } from './genesis-accounts.ts'
import { listPoolAccounts, lookupTableOf, marketTable } from './lookup-table.ts'
import { token2022Program, tokenProgram } from './token-state.ts'

export const wrappedSol = 'So11111111111111111111111111111111111111112' as Address

export type SolanaToken = Mint & Readonly<{ ticker: string; symbol: string; name: string }>

const token = (
  ticker: string,
  symbol: string,
  name: string,
  decimals: number,
  transferFee: Mint['transferFee'] = null,
): SolanaToken => ({
  ...{ ticker, symbol, name, decimals, transferFee, address: addressOf(`mint ${ticker}`) },
  program: transferFee === null ? tokenProgram : token2022Program,
})

/** Tokens of the catalogue, with its decimals. */
export const catalogueTokens: readonly SolanaToken[] = [
  token('usdc', 'USDC', 'USD Coin', 6),
  token('usdt', 'USDT', 'Tether USD', 6),
  token('jup', 'JUP', 'Jupiter', 6),
  token('bonk', 'BONK', 'Bonk', 5),
]
/** Test tokens: one of Token-2022 with a transfer fee of 1 %, at most 5 000 LEVY, and some that only one DEX trades, one of them with two decimals. */
export const testTokens: readonly SolanaToken[] = [
  token('levy', 'LEVY', 'Transfer fee test token', 6, { basisPoints: 100, maximumFee: 5_000_000_000n }),
  token('tick', 'TICK', 'Test token of Raydium CLMM', 6),
  token('bins', 'BINS', 'Test token of Meteora DLMM', 6),
  token('four', 'FOUR', 'Test token of Raydium AMM v4', 9),
  token('coin', 'COIN', 'Test token of PumpSwap', 6),
  token('span', 'SPAN', 'Test token of Meteora DAMM v2', 6),
  token('pair', 'PAIR', 'Test token of Raydium CPMM', 9),
  token('cent', 'CENT', 'Test token with two decimals', 2),
]
/** On no list: one that Metaplex's program names, and one of Token-2022 whose permanent delegate may take every balance. */
const unlistedTokens: readonly SolanaToken[] = [
  token('meme', 'MEME', 'Unlisted test token', 6),
  {
    ...token('ward', 'WARD', 'Permanent delegate test token', 6),
    ...{ program: token2022Program, hasPermanentDelegate: true },
  },
]
const sol: SolanaToken = {
  ...{ ticker: 'sol', symbol: 'SOL', name: 'Solana', address: wrappedSol, decimals: 9 },
  ...{ program: tokenProgram, transferFee: null },
}
const allTokens = [sol, ...catalogueTokens, ...testTokens, ...unlistedTokens]
const tokenOf = (ticker: string): SolanaToken => {
  const found = allTokens.find((one) => one.ticker === ticker)
  if (found === undefined) throw new Error(`no token ${ticker} on sol`)
  return found
}

const usdScale = 10n ** 12n

/** A pool of two tokens, in this order, with so many US dollars of each by the sandbox's base prices. */
function planInOrder(dex: string, tickers: readonly [string, string], usd: number): PoolPlan {
  const unitsOf = (ticker: string) =>
    (BigInt(usd) * usdScale * 10n ** BigInt(tokenOf(ticker).decimals)) / priceOf(ticker, null)
  return {
    ...{ name: [dex, ...tickers].join(' '), tickers, mints: [tokenOf(tickers[0]), tokenOf(tickers[1])] },
    reserves: [unitsOf(tickers[0]), unitsOf(tickers[1])],
  }
}

/** Most programs order the mints of a pool by their bytes. */
function plan(dex: string, first: string, second: string, usd: number): PoolPlan {
  const [a, b] = [bytesOf(tokenOf(first).address), bytesOf(tokenOf(second).address)]
  return planInOrder(dex, Buffer.compare(a, b) < 0 ? [first, second] : [second, first], usd)
}

/* Fees are millionths. */
const [quarter, third] = [cpmmConfig(0, 2_500), cpmmConfig(1, 3_000)] as const
const [low, middle] = [clmmConfig(0, 400, 1), clmmConfig(1, 2_500, 10)] as const
const cpmm = (first: string, second: string, usd: number, config = quarter) =>
  createCpmmPool(plan(`raydium cpmm ${config.index}`, first, second, usd), config)
const clmm = (first: string, second: string, usd: number, config = middle) =>
  createClmmPool(plan(`raydium clmm ${config.index}`, first, second, usd), config)
const dlmm = (first: string, second: string, usd: number, binStep: number) =>
  createDlmmPool(plan(`meteora dlmm ${binStep}`, first, second, usd), { binStep, baseFactor: 10_000 })
const ammV4 = (first: string, second: string, usd: number) =>
  createAmmV4Pool(planInOrder('raydium amm v4', [first, second], usd))
const dammV2 = (first: string, second: string, usd: number, pool: DammPlan) =>
  createDammPool(plan('meteora damm v2', first, second, usd), pool)
const pump = (first: string, second: string, usd: number) =>
  createPumpPool(planInOrder('pump-swap', [first, second], usd))

export const marketPools: readonly MarketPool[] = await Promise.all([
  cpmm('sol', 'usdc', 4_000_000),
  cpmm('sol', 'usdc', 2_000_000, third),
  cpmm('sol', 'usdt', 2_000_000),
  cpmm('usdc', 'usdt', 3_000_000),
  cpmm('sol', 'jup', 1_000_000),
  cpmm('usdc', 'jup', 500_000),
  cpmm('sol', 'bonk', 1_000_000),
  cpmm('sol', 'levy', 500_000),
  cpmm('usdc', 'levy', 500_000),
  cpmm('sol', 'meme', 500_000),
  cpmm('sol', 'ward', 500_000),
  clmm('sol', 'usdc', 3_000_000),
  clmm('usdc', 'usdt', 1_000_000, low),
  clmm('usdc', 'jup', 300_000),
  dlmm('sol', 'usdc', 1_500_000, 20),
  dlmm('sol', 'usdc', 500_000, 4),
  clmm('usdc', 'tick', 400_000),
  dlmm('sol', 'bins', 400_000, 20),
  dlmm('usdc', 'bins', 150_000, 50),
  ammV4('four', 'sol', 800_000),
  ammV4('sol', 'usdc', 1_000_000),
  pump('coin', 'sol', 300_000),
  dammV2('usdc', 'span', 400_000, { feePpm: 2_500 }),
  dammV2('sol', 'span', 200_000, { feePpm: 10_000, isCompounding: true }),
  cpmm('sol', 'pair', 200_000),
  cpmm('usdc', 'cent', 200_000),
])

const dexes = [
  { name: 'raydium-cpmm', program: raydiumCpmm },
  { name: 'raydium-clmm', program: raydiumClmm },
  { name: 'raydium-amm-v4', program: raydiumAmmV4 },
  { name: 'meteora-dlmm', program: meteoraDlmm },
  { name: 'meteora-damm-v2', program: meteoraDammV2 },
  { name: 'pump-swap', program: pumpSwap },
] as const
export const dexPrograms: readonly DexProgram[] = dexes.map(({ program }) => program)

/** Writes the tokens and pools into the first state. */
export async function deployMarket(bank: Bank, authority: Address): Promise<void> {
  for (const one of [...catalogueTokens, ...testTokens, ...unlistedTokens])
    bank.writeAccount(mintAccount(one, authority, 10n ** BigInt(one.decimals + 9)))
  const { address, name, symbol } = tokenOf('meme')
  bank.writeAccount(await metadataAccount(address, name, symbol))
  for (const { genesis } of marketPools) for (const account of genesis) bank.writeAccount(account)
  bank.writeAccount(
    lookupTableOf(
      marketTable,
      listPoolAccounts(marketPools, (one) => bank.readAccount(one)),
    ),
  )
}

/** As the server reads it from chains.json. */
export const listedMarket = {
  wrapped: wrappedSol,
  coinIsToken: false,
  hubs: [tokenOf('usdc').address],
  dexes: dexes.map(({ name, program }) => ({ name, kind: name, factory: program.address })),
  lookupTables: [marketTable],
  contracts: { unlistedMint: tokenOf('meme').address, permanentDelegateMint: tokenOf('ward').address },
  defiTokens: [...catalogueTokens, ...testTokens].map(({ address, symbol, name, decimals }) => ({
    address,
    symbol,
    name,
    decimals,
  })),
} as const
