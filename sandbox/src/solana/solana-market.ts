import { type Address, getAddressEncoder } from '@solana/kit'
import { priceOf } from '../prices.ts'
import type { Bank } from './bank.ts'
import {
  addressOf,
  type CpmmConfig,
  type CpmmPool,
  cpmmConfigAccount,
  cpmmPoolAccounts,
  type Mint,
  metadataAccount,
  mintAccount,
} from './genesis-accounts.ts'
import { raydiumCpmm } from './raydium-cpmm-program.ts'
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
/** A test token of Token-2022 with a transfer fee of 1 %, at most 5 000 LEVY. */
export const testTokens: readonly SolanaToken[] = [
  token('levy', 'LEVY', 'Transfer fee test token', 6, { basisPoints: 100, maximumFee: 5_000_000_000n }),
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

const config = (index: number, tradeFeeRate: bigint): CpmmConfig => ({
  address: addressOf(`raydium cpmm config ${index}`),
  ...{ index, tradeFeeRate },
})
const [quarter, third] = [config(0, 2_500n), config(1, 3_000n)] as const

export type MarketPool = CpmmPool & Readonly<{ tickers: readonly [string, string] }>

function pool(first: string, second: string, poolConfig: CpmmConfig): MarketPool {
  const name = `raydium cpmm ${first} ${second} ${poolConfig.index}`
  // The program orders the mints of a pool by their bytes.
  const tickers = [first, second].sort((a, b) =>
    Buffer.compare(bytesOf(tokenOf(a).address), bytesOf(tokenOf(b).address)),
  ) as [string, string]
  return {
    address: addressOf(name),
    config: poolConfig,
    mints: [tokenOf(tickers[0]), tokenOf(tickers[1])],
    vaults: [addressOf(`${name} vault 0`), addressOf(`${name} vault 1`)],
    observation: addressOf(`${name} observation`),
    tickers,
  }
}

const bytesOf = (address: Address): Buffer => Buffer.from(getAddressEncoder().encode(address))

/** US dollars × 10¹² on each side, by the sandbox's base prices. */
const plans: readonly (readonly [string, string, CpmmConfig, bigint])[] = [
  ['sol', 'usdc', quarter, 4_000_000n],
  ['sol', 'usdc', third, 2_000_000n],
  ['sol', 'usdt', quarter, 2_000_000n],
  ['usdc', 'usdt', quarter, 3_000_000n],
  ['sol', 'jup', quarter, 1_000_000n],
  ['usdc', 'jup', quarter, 500_000n],
  ['sol', 'bonk', quarter, 1_000_000n],
  ['sol', 'levy', quarter, 500_000n],
  ['usdc', 'levy', quarter, 500_000n],
  ['sol', 'meme', quarter, 500_000n],
  ['sol', 'ward', quarter, 500_000n],
]
const usdScale = 10n ** 12n

export const marketPools: readonly MarketPool[] = plans.map(([first, second, poolConfig]) =>
  pool(first, second, poolConfig),
)

/** Writes the tokens and pools into the first state. */
export async function deployMarket(bank: Bank, authority: Address): Promise<void> {
  for (const one of [...catalogueTokens, ...testTokens, ...unlistedTokens])
    bank.writeAccount(mintAccount(one, authority, 10n ** BigInt(one.decimals + 9)))
  const { address, name, symbol } = tokenOf('meme')
  bank.writeAccount(await metadataAccount(address, name, symbol))
  for (const one of [quarter, third]) bank.writeAccount(cpmmConfigAccount(one))
  for (const [index, one] of marketPools.entries()) {
    const usd = (plans[index]?.[3] ?? 0n) * usdScale
    const unitsOf = (side: 0 | 1) => (usd * 10n ** BigInt(one.mints[side].decimals)) / priceOf(one.tickers[side], null)
    for (const account of cpmmPoolAccounts(one, [unitsOf(0), unitsOf(1)])) bank.writeAccount(account)
  }
}

/** As the server reads it from chains.json. */
export const listedMarket = {
  wrapped: wrappedSol,
  coinIsToken: false,
  hubs: [tokenOf('usdc').address],
  dexes: [{ name: 'raydium-cpmm', kind: 'raydium-cpmm', factory: raydiumCpmm }],
  contracts: { unlistedMint: tokenOf('meme').address, permanentDelegateMint: tokenOf('ward').address },
  defiTokens: [...catalogueTokens, ...testTokens].map(({ address, symbol, name, decimals }) => ({
    address,
    symbol,
    name,
    decimals,
  })),
} as const
