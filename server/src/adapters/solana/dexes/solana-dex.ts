import { base58 } from '@scure/base'
import type { TransferFeeConfig } from '@swapyard/lib/pools/solana/transfer-fee.ts'
import type { SolanaDexKind } from '../../../swap/domain/dex.ts'
import type { Pool } from '../../../swap/routing/pool-kinds.ts'
import type { Pair, SolanaPoolIdentity } from '../../../swap/routing/pools/solana/solana-pool.ts'
import type { Instruction } from '../transaction.ts'

export type SolanaPool = Extract<Pool, { kind: SolanaDexKind }>

export type FindAccount = (address: string) => Buffer | null

/** The accounts of a pool at one slot. */
export type PoolReading = Readonly<{
  /** What is the same for all DEXes. */
  identity: Omit<SolanaPoolIdentity, 'native'>
  data: Buffer
  /** Balances of the vaults. */
  balances: Pair<bigint>
  transferFees: Pair<TransferFeeConfig | null>
  /** The accounts that `accountsOf` names. */
  account: FindAccount
  /** Unix seconds. */
  unixTime: bigint
  slot: bigint
}>

export type DexSwap = Readonly<{
  owner: string
  /** Token accounts of the owner. */
  source: string
  target: string
  tokenIn: 0 | 1
  amountIn: bigint
  minOut: bigint
}>

/** A swap as its instruction states it. */
export type StatedSwap = Readonly<{ pool: string; source: string; target: string; amountIn: bigint; minOut: bigint }>

/** One DEX of Solana: how its pools are found and read, and how a transaction swaps in them. */
export interface SolanaDex<P extends SolanaPool> {
  readonly kind: P['kind']
  readonly program: string
  /** For messages. */
  readonly title: string
  /** Filters of `getProgramAccounts` that tell pools from other accounts of the program. */
  readonly filters: readonly object[]
  /** Offsets in the account of a pool. */
  readonly mintsAt: Pair<number>
  readonly vaultsAt: Pair<number>
  /** Accounts that a pool is read from besides its own, its mints and its vaults. Some follow from the others. */
  accountsOf(address: string, data: Buffer, account: FindAccount): readonly string[]
  /** Null for a pool in which no one can swap now, or whose maths is not known. */
  read(reading: PoolReading): P | null
  /** Changes when time alone changes what a pool pays. */
  phaseOf?(data: Buffer, unixTime: bigint): number
  /** The instruction of a swap with an exact input. */
  swap(pool: P, swap: DexSwap): Instruction
  /** Null for any other instruction. */
  readSwap(instruction: Instruction): StatedSwap | null
  /** Errors of the program, in words. */
  readonly errors: Readonly<Record<number, string>>
  /** Its errors if the pool pays less than the minimum. */
  readonly belowMinimum: readonly number[]
}

/** Tick or bin arrays that a swap may use: that of the price, and the next one. Each is ten kilobytes, and an account of the transaction. */
const ARRAYS_PER_DIRECTION = 2

/** Of ascending places, those that swaps in both directions may use from `current` on. */
export function placesAround(places: readonly number[], current: number): readonly number[] {
  const below = places.filter((place) => place <= current).slice(-ARRAYS_PER_DIRECTION)
  const above = places.filter((place) => place >= current).slice(0, ARRAYS_PER_DIRECTION)
  return [...new Set([...below, ...above])]
}

export const addressAt = (data: Buffer, offset: number): string => base58.encode(data.subarray(offset, offset + 32))

/** Data of an instruction or account begins with this: the first 8 bytes of a SHA-256. */
export const markFilter = (mark: Buffer) => ({ memcmp: { offset: 0, bytes: base58.encode(mark) } })

/** Data of an instruction: a mark, then numbers of 64 bits, then other bytes. */
export function encodeCall(mark: Buffer, numbers: readonly bigint[], rest: Buffer = Buffer.alloc(0)): Uint8Array {
  const words = Buffer.alloc(numbers.length * 8)
  for (const [index, number] of numbers.entries()) words.writeBigUInt64LE(number, index * 8)
  return new Uint8Array([...mark, ...words, ...rest])
}

/** The first two numbers after the mark; null for data with another mark or another length. */
export function decodeAmounts(
  { data }: Instruction,
  mark: Buffer,
  length: number,
): Readonly<{ amountIn: bigint; minOut: bigint }> | null {
  const bytes = Buffer.from(data)
  if (bytes.length !== length || !bytes.subarray(0, mark.length).equals(mark)) return null
  return { amountIn: bytes.readBigUInt64LE(mark.length), minOut: bytes.readBigUInt64LE(mark.length + 8) }
}
