import type { Market } from './market/snapshot.ts'

export type Tip = Readonly<{ height: number; hash: string }>
export type Wallet = Readonly<{ network: string; address: string; memo: string | null; privateKey: string }>

/** One chain of the sandbox, as its controls see it. */
export type LocalChain = Readonly<{
  network: string
  family: 'bitcoin' | 'evm' | 'monero'
  client: string
  rpcUrls: readonly string[]
  chainId?: number
  /** Contracts by ticker. */
  tokens: Readonly<Record<string, string>>
  /** What there is to swap on; absent on chains without. */
  market?: Market
  createWallet(): Wallet | Promise<Wallet>
  /** Pays from the bank; `currency` is `native`, the coin's ticker or a token's. Answers the transaction's hash. */
  deposit(payment: { currency: string; address: string; amount: string }): Promise<string>
  readBalance(query: { currency: string; address: string }): Promise<string>
  mine(count: number): Promise<Tip>
  /** Replaces the last `depth` blocks by a longer branch without their transactions. */
  reorganize(depth: number, options: { drop: boolean }): Promise<Tip>
  /** Lets the chain's own trader send its transaction for the next block, if it has one. */
  trade?(): Promise<void>
  /** How many transactions wait for a block. */
  countPending(): Promise<number>
  /** After how long without use blocks come seldom, where a block costs much. */
  idleAfterMs?: number
  /** How long a start goes before the first block that nobody asked for, where a block costs much. */
  firstBlockDelayMs?: number
  stop(): Promise<void>
}>
