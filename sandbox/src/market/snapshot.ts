import { readFileSync } from 'node:fs'
import { zstdDecompressSync } from 'node:zlib'
import type { PoolPlan } from './pool-plans.ts'

export type Address = `0x${string}`

/** A pool on a chain. Tokens in address order; the zero address is the native coin. */
export type MarketPool = Readonly<{
  kind: PoolPlan['kind']
  /** The pool contract; the zero address for Uniswap V4. */
  address: Address
  /** The pool id of Uniswap V4 and Balancer. */
  id?: Address
  tokens: readonly [Address, Address]
  /** Price keys of the two tokens. */
  prices: readonly [string, string]
  decimals: readonly [number, number]
  feePpm: number
  spacing: number
}>

export type Dex = Readonly<{
  name: string
  kind: PoolPlan['kind']
  /** The factory; for Uniswap V4 the pool manager. */
  factory: Address
  initCodeHash?: Address
  feePpm?: number
  /** The CREATE2 deployer of the pools, if it is not the factory. */
  deployer?: Address
  vault?: Address
  /** Algebra: how a pool finds its next tick. */
  ticksBy?: 'list'
  deployedAt: number
}>

/** The DEXes, tokens and pools of a chain. `chains.json` has every member except `trader` and `pools`. */
export type Market = Readonly<{
  /** The wrapped native coin. */
  wrapped: Address
  /** True on Celo: the native coin itself is the ERC-20 token `wrapped`, and there is no wrapping. */
  coinIsToken: boolean
  /** Connector tokens: most pools have one of them. */
  hubs: readonly Address[]
  dexes: readonly Dex[]
  contracts: Readonly<Record<string, Address>>
  defiTokens: readonly Readonly<{ address: Address; symbol: string; name: string; decimals: number }>[]
  /** The PoolTrader contract, which owns the liquidity and moves the prices. */
  trader: Address
  pools: readonly MarketPool[]
}>

/** What `chains.json` has of a market, whatever the family of the chain; addresses in its own form. */
export type ListedMarket = Readonly<{
  wrapped: string
  coinIsToken: boolean
  hubs: readonly string[]
  /** In the form of its family. */
  dexes: readonly Readonly<{
    name: string
    kind: string
    factory: string
    config?: string
    feeCoin?: string
    pools?: readonly string[]
  }>[]
  contracts: Readonly<Record<string, string>>
  /** Of Solana. */
  lookupTables?: readonly string[]
  defiTokens: readonly Readonly<{ address: string; symbol: string; name: string; decimals: number }>[]
}>

/** A prepared chain; `state` is anvil's state file. */
export type MarketSnapshot = Readonly<{ market: Market; state: string }>

export const snapshotFile = new URL('../generated/markets.zst', import.meta.url)

/**
 * The archive's first line: position of each state in the archive, so that a reader decodes only the states it needs.
 */
type Index = Readonly<Record<string, { market: Market; at: number; length: number }>>

export function packSnapshots(snapshots: Readonly<Record<string, MarketSnapshot>>): Buffer {
  const index: Record<string, Index[string]> = {}
  const states: Buffer[] = []
  let at = 0
  for (const [network, { market, state }] of Object.entries(snapshots)) {
    const bytes = Buffer.from(state)
    index[network] = { market, at, length: bytes.length }
    states.push(bytes)
    at += bytes.length
  }
  const header = Buffer.from(`${JSON.stringify(index)}\n`)
  return Buffer.concat([header, ...states])
}

/** Returns a reader that opens the archive on its first call. */
export function createSnapshotReader(file: URL = snapshotFile): (network: string) => MarketSnapshot {
  let archive: { index: Index; bytes: Buffer; start: number } | null = null
  return (network) => {
    archive ??= openArchive(file)
    const entry = archive.index[network]
    if (entry === undefined) throw new Error(`${file.pathname} has no snapshot of ${network}`)
    const from = archive.start + entry.at
    return { market: entry.market, state: archive.bytes.toString('utf8', from, from + entry.length) }
  }
}

function openArchive(file: URL) {
  const bytes = zstdDecompressSync(readFileSync(file))
  const start = bytes.indexOf(10) + 1
  return { index: JSON.parse(bytes.toString('utf8', 0, start)) as Index, bytes, start }
}
