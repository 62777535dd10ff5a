import { readFileSync } from 'node:fs'
import { zstdDecompressSync } from 'node:zlib'
import type { PoolPlan } from './pool-plans.ts'

export type Address = `0x${string}`

/** A pool as it stands on a chain. Tokens in the order of their addresses; the zero address is the native coin. */
export type MarketPool = Readonly<{
  kind: PoolPlan['kind']
  /** Nothing where a manager holds it. */
  address: Address
  /** Uniswap V4's and Balancer's. */
  id?: Address
  tokens: readonly [Address, Address]
  /** Keys of their prices. */
  prices: readonly [string, string]
  decimals: readonly [number, number]
  feePpm: number
  spacing: number
}>

export type Dex = Readonly<{
  name: string
  kind: PoolPlan['kind']
  /** For Uniswap V4 the pool manager. */
  factory: Address
  initCodeHash?: Address
  feePpm?: number
  /** Who makes the pools, where it is not the factory. */
  deployer?: Address
  vault?: Address
  /** Algebra: how its pools find their next tick. */
  ticksBy?: 'list'
  deployedAt: number
}>

/** What a chain trades on. `chains.json` has all of it but `trader` and `pools`. */
export type Market = Readonly<{
  /** The token that stands for the coin in pools. */
  wrapped: Address
  /** Celo: the coin is that token, and is never wrapped. */
  coinIsToken: boolean
  hubs: readonly Address[]
  dexes: readonly Dex[]
  contracts: Readonly<Record<string, Address>>
  defiTokens: readonly Readonly<{ address: Address; symbol: string; name: string; decimals: number }>[]
  /** Whose pools these are; it moves them. */
  trader: Address
  pools: readonly MarketPool[]
}>

/** A chain with its market in it: `state` is what anvil reads at its start. */
export type MarketSnapshot = Readonly<{ market: Market; state: string }>

export const snapshotFile = new URL('../generated/markets.zst', import.meta.url)

/** Index first, then the states one after another: only those that are asked for become text. */
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

/** Reads the archive of all networks when the first of them asks. */
export function createSnapshotReader(file: URL = snapshotFile): (network: string) => MarketSnapshot {
  let archive: { index: Index; bytes: Buffer; start: number } | null = null
  return (network) => {
    archive ??= openArchive(file)
    const entry = archive.index[network]
    if (entry === undefined) throw new Error(`${file.pathname} holds no market of ${network}`)
    const from = archive.start + entry.at
    return { market: entry.market, state: archive.bytes.toString('utf8', from, from + entry.length) }
  }
}

function openArchive(file: URL) {
  const bytes = zstdDecompressSync(readFileSync(file))
  const start = bytes.indexOf(10) + 1
  return { index: JSON.parse(bytes.toString('utf8', 0, start)) as Index, bytes, start }
}
