import type { ListedMarket } from './market/snapshot.ts'

export type Tip = Readonly<{ height: number; hash: string }>
export type Wallet = Readonly<{ network: string; address: string; memo: string | null; privateKey: string }>

/** One chain of the sandbox, with the operations of the control server. */
export type LocalChain = Readonly<{
  network: string
  family: 'bitcoin' | 'evm' | 'monero' | 'solana' | 'sui'
  client: string
  rpcUrls: readonly string[]
  chainId?: number
  /** Contract addresses by ticker. */
  tokens: Readonly<Record<string, string>>
  /** DEXes and tokens; absent on chains without swaps. */
  market?: ListedMarket
  createWallet(): Wallet | Promise<Wallet>
  /**
   * Pays from the bank and returns the transaction hash. `currency` is `native`, the native ticker or a token's ticker.
   */
  deposit(payment: { currency: string; address: string; amount: string }): Promise<string>
  readBalance(query: { currency: string; address: string }): Promise<string>
  mine(count: number): Promise<Tip>
  /** Replaces the last `depth` blocks with a branch that is one block longer and has none of their transactions. */
  reorganize(depth: number, options: { drop: boolean }): Promise<Tip>
  /** Sends the trader's transaction for the next block, on chains with a trader. */
  trade?(): Promise<void>
  /** Counts the transactions that wait for a block. */
  countPending(): Promise<number>
  /** Time between two blocks; a second by default. */
  blockIntervalMs?: number
  /** Delay of the first interval block after a start, where mining a block is expensive. */
  firstBlockDelayMs?: number
  stop(): Promise<void>
}>
